/** Breaks a call by the buttons of the page, one after the other, and says what came of each. */
import type { Browser } from 'puppeteer-core';
import { TalkPage } from './talk-page.ts';
import { until } from './until.ts';

/** RTP packets that must pass each way: one second. */
const PACKETS = 50;

export interface FaultsOptions {
  readonly edge: string;
  /** What the call says. */
  readonly source: 'microphone' | 'tone';
  /** What it switches to, in turn. */
  readonly switches: readonly ('tcp' | 'udp')[];
  /** Called with the name of what is to be seen on the page now. */
  readonly look?: (name: string, page: TalkPage) => Promise<void>;
}

/** What the page showed after all of it. */
export interface FaultsSeen {
  /** Lines of its log. */
  readonly log: readonly string[];
  readonly complaints: readonly string[];
  /** Transports that media went by, in turn. */
  readonly transports: readonly string[];
  /** What the map says in words, in the call and with the drained region. */
  readonly map: readonly string[];
}

/** The call is from Frankfurt. Each button must leave it live and heard. */
export async function breakCall(
  browser: Browser,
  { edge, source, switches, look = async () => undefined }: FaultsOptions,
): Promise<FaultsSeen> {
  const page = await TalkPage.open(browser, edge);
  const transports: string[] = [];
  const map: string[] = [];
  await page.page.select('#source', source);
  await look('idle', page);
  await page.callFrom('Frankfurt');
  await page.untilLive();
  await page.untilPassed(PACKETS);
  await until(async () => (await page.text('#map-words')).includes('Media flows'));
  map.push(await page.text('#map-words'));
  await look('live', page);

  await page.press('#kill-relay');
  await until(async () => (await page.text('#log')).includes('took its place'));
  await page.untilPassed(PACKETS);
  await look('killed', page);

  for (const transport of switches) {
    await page.press('#switch-transport');
    await until(async () => (await page.stats()).relay?.endsWith(`/${transport}`));
    transports.push(transport);
    await page.untilPassed(PACKETS);
    if (transport === 'tcp') await look('tcp', page);
  }

  await page.press('#drain');
  await until(async () => (await page.text('#map-words')).includes('eu-central-1, which drains'));
  const before = (await page.stats()).relay;
  await page.press('#restart-ice');
  // The nearest relays that take clients are another region's by now.
  await until(async () => ![undefined, before].includes((await page.stats()).relay));
  await page.untilPassed(PACKETS);
  await until(async () => (await page.text('#map-words')).includes('over the trunk'));
  map.push(await page.text('#map-words'));
  await look('drained', page);
  await page.press('#drain');
  await until(async () => !(await page.text('#map-words')).includes('drains'));
  expectLive(await page.state());
  await page.pressTalk();
  await look('ended', page);
  const log = await page.items('#log');
  await page.page.close();
  return { log, complaints: page.complaints, transports, map };
}

function expectLive(state: string): void {
  if (state !== 'live') throw new Error(`The call is ${state}.`);
}
