/** The page of a running stack in a browser: presses its buttons and looks at the call it holds. */
import type { Browser, JSHandle, Page } from 'puppeteer-core';
import { until } from './until.ts';

/** What the page's call tells of itself; its source is workers/page/call.js. */
export interface PageCall {
  readonly state:
    | 'asking'
    | 'starting'
    | 'connecting'
    | 'unanswered'
    | 'live'
    | 'interrupted'
    | 'ended'
    | 'failed';
  readonly path: Readonly<Record<'colo' | 'cluster' | 'ingress' | 'transceiver', string>>;
  /** `ADDRESS:PORT/TRANSPORT` of each candidate in the answer. */
  readonly candidates: readonly string[];
  stats(): Promise<PageCallStats>;
  /** Sends on the data channel; resolves with whether the same came back. */
  echo(data: string | Uint8Array): Promise<boolean>;
}

export interface PageCallStats {
  readonly packetsIn: number;
  readonly packetsOut: number;
  /** Grows with sound that is heard, stands still in silence. */
  readonly energyIn: number;
  /** `ADDRESS:PORT/TRANSPORT` that media goes to. */
  readonly relay: string | undefined;
}

/** A page that has been opened; {@link TalkPage.call} is there once Talk was pressed. */
export class TalkPage {
  readonly page: Page;
  /** What the browser complained of: uncaught errors, failed loads, violations of the page's policy. */
  readonly complaints: string[] = [];
  #call: JSHandle<PageCall> | undefined;

  private constructor(page: Page) {
    this.page = page;
    page.on('pageerror', (error) => this.complaints.push(String(error)));
    page.on('console', (message) => {
      if (message.type() === 'error')
        this.complaints.push(`${message.text()} ${message.location().url}`);
    });
  }

  static async open(browser: Browser, edge: string): Promise<TalkPage> {
    const page = new TalkPage(await browser.newPage());
    await page.page.goto(edge);
    return page;
  }

  /** @param place A name in the page's own list, as `Frankfurt`. */
  async callFrom(place: string): Promise<void> {
    await this.page.select('#place', place);
    await this.pressTalk();
  }

  /** Starts a call, or hangs up. */
  async pressTalk(): Promise<void> {
    await this.page.click('#talk');
    // As text, so that no tool rewrites the import for another module system.
    const expression = `import('/app.js').then((app) => app.currentCall())`;
    this.#call = await this.page.evaluateHandle<[], () => Promise<PageCall>>(expression);
  }

  /** Presses a button once it may be pressed. */
  async press(selector: string): Promise<void> {
    await this.page.waitForSelector(`${selector}:not(:disabled)`);
    await this.page.click(selector);
  }

  /** Fails at once, with what the page shows, when the call does. */
  async untilLive(): Promise<void> {
    await until(async () => {
      const state = await this.state();
      if (state === 'failed') throw new Error(`The call failed: ${await this.text('#error')}`);
      return state === 'live';
    });
  }

  async state(): Promise<PageCall['state']> {
    return this.#handle.evaluate((call) => call.state);
  }

  async path(): Promise<PageCall['path']> {
    return this.#handle.evaluate((call) => call.path);
  }

  async candidates(): Promise<PageCall['candidates']> {
    return this.#handle.evaluate((call) => call.candidates);
  }

  async stats(): Promise<PageCallStats> {
    return this.#handle.evaluate((call) => call.stats());
  }

  async echoText(text: string): Promise<boolean> {
    return this.#handle.evaluate((call, sent) => call.echo(sent), text);
  }

  /** Sends that many bytes of every value in turn. */
  async echoBytes(length: number): Promise<boolean> {
    return this.#handle.evaluate(
      (call, size) =>
        call.echo(new Uint8Array(size).map((_, index) => (index * 31) ^ (index >> 8))),
      length,
    );
  }

  /** Waits until so many more RTP packets have gone each way. */
  async untilPassed(packets: number): Promise<void> {
    const before = await this.stats();
    await until(async () => {
      const now = await this.stats();
      return (
        now.packetsIn >= before.packetsIn + packets && now.packetsOut >= before.packetsOut + packets
      );
    });
  }

  /** Waits until sound is heard and `packets` more RTP packets have gone each way. */
  async untilHeard(packets: number): Promise<void> {
    const before = await this.stats();
    await until(async () => {
      const now = await this.stats();
      return (
        now.energyIn > before.energyIn &&
        now.packetsIn >= before.packetsIn + packets &&
        now.packetsOut >= before.packetsOut + packets
      );
    });
  }

  /** What the page shows there. */
  async text(selector: string): Promise<string> {
    const text = await this.page.$eval(selector, (element) => element.textContent);
    return (text ?? '').replace(/\s+/g, ' ').trim();
  }

  /** What the page shows in each item of a list. */
  async items(selector: string): Promise<string[]> {
    return this.page.$$eval(`${selector} > li`, (items) => items.map((item) => item.textContent));
  }

  get #handle(): JSHandle<PageCall> {
    if (!this.#call) throw new Error('Press Talk first.');
    return this.#call;
  }
}
