/** Calls of libwebrtc that go on through a drill, and when each was heard. */
import { setTimeout as delay } from 'node:timers/promises';
import type { ConnectedCall } from '../../local/connected-call.ts';
import { ScriptedClient, type ScriptedClientOptions } from '../../local/scripted-client.ts';
import { RtpLedger, rtpSource } from '../network/rtp-ledger.ts';
import { LastMile, type Through } from './last-mile.ts';

/** Calls set up at a time: more would starve each other on a small machine. */
const AT_ONCE = 4;

/** Milliseconds between two looks at when a call was heard. */
const LOOK = 5;

export interface CallOptions extends Omit<ScriptedClientOptions, 'reroute'> {
  /** What is between the client and relays besides its last mile. */
  readonly through?: Through;
}

/** One call that says a tone and hears it come back. */
export class DrillCall implements AsyncDisposable {
  readonly lastMile: LastMile;
  readonly client: ScriptedClient;
  /** The call's own audio as it came to the client. */
  readonly audio = new RtpLedger();
  /** Packets of another call's audio that came to the client. */
  strays = 0;
  /** What this call's audio comes from. */
  #source: number | undefined;
  /** Of `performance.now`. */
  #heardAt = 0;
  #longestGap = 0;
  #connected: ConnectedCall | undefined;

  private constructor({ through, ...options }: CallOptions) {
    this.lastMile = new LastMile((packet) => this.#hear(packet), through);
    const reroute = (answer: string) => this.lastMile.reroute(answer);
    this.client = new ScriptedClient({ ...options, reroute });
  }

  /** Settles once it is heard. @throws ScriptedCallError */
  static async place(options: CallOptions): Promise<DrillCall> {
    const call = new DrillCall(options);
    try {
      call.#connected = await call.client.connect();
      return call;
    } catch (error) {
      await call[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** What the edge said of the call. */
  get path(): ConnectedCall['path'] {
    return this.#connected!.path;
  }

  /** When audio came last, of `performance.now`. */
  get heardAt(): number {
    return this.#heardAt;
  }

  /** Milliseconds of the longest time without audio since {@link measure}, and be it the one that lasts. */
  get longestGap(): number {
    return Math.max(this.#longestGap, performance.now() - this.#heardAt);
  }

  /** Counts gaps from now on. */
  measure(): void {
    this.#longestGap = 0;
  }

  /** Whether tone and data still come back, on the connection that it began with. */
  async isAlive(): Promise<boolean> {
    this.client.forgetSound();
    try {
      await this.client.hearTone();
      await this.client.echo('still there');
    } catch {
      return false;
    }
    return this.client.connectionState === 'connected';
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.client.close();
    await this.lastMile[Symbol.asyncDispose]();
  }

  #hear(packet: Buffer): void {
    const source = rtpSource(packet);
    this.#source ??= source;
    if (source !== this.#source) {
      this.strays++;
      return;
    }
    this.audio.note(packet);
    const now = performance.now();
    if (this.#heardAt > 0) this.#longestGap = Math.max(this.#longestGap, now - this.#heardAt);
    this.#heardAt = now;
  }
}

/** Calls that are judged together. */
export class Calls implements AsyncDisposable {
  readonly all: readonly DrillCall[];

  constructor(all: readonly DrillCall[]) {
    this.all = all;
  }

  /** @throws ScriptedCallError when one of them cannot be made; none is left then. */
  static async place(count: number, options: CallOptions): Promise<Calls> {
    await using placed = new AsyncDisposableStack();
    const all: DrillCall[] = [];
    let toPlace = count;
    const placing = Array.from({ length: AT_ONCE }, async () => {
      while (toPlace > 0) {
        toPlace--;
        all.push(placed.use(await DrillCall.place(options)));
      }
    });
    const outcomes = await Promise.allSettled(placing);
    const failure = outcomes.find(({ status }) => status === 'rejected');
    if (failure?.status === 'rejected') throw failure.reason;
    placed.move();
    return new Calls(all);
  }

  get count(): number {
    return this.all.length;
  }

  measure(): void {
    for (const call of this.all) call.measure();
  }

  get longestGap(): number {
    return Math.max(...this.all.map((call) => call.longestGap));
  }

  /** Whether each was heard since a moment of `performance.now`. */
  heardSince(moment: number): boolean {
    return this.all.every(({ heardAt }) => heardAt > moment);
  }

  /**
   * Settles once each was heard after a moment, with the milliseconds from then until the last one was.
   * It has no limit of its own.
   */
  async heardAgain(moment: number, signal: AbortSignal): Promise<number> {
    while (!this.heardSince(moment)) await delay(LOOK, undefined, { signal });
    return performance.now() - moment;
  }

  /** Those for which it is so, and the others; both stay part of this. */
  split(isSo: (call: DrillCall) => boolean): [Calls, Calls] {
    const [yes, no] = [this.all.filter(isSo), this.all.filter((call) => !isSo(call))];
    return [new Calls(yes), new Calls(no)];
  }

  /** @throws ScriptedCallError when the edge does not end one of them. */
  async hangUp(): Promise<void> {
    await Promise.all(this.all.map(({ client }) => client.hangUp()));
  }

  /** How many are not alive any more. */
  async lost(): Promise<number> {
    const alive = await Promise.all(this.all.map((call) => call.isAlive()));
    return alive.filter((isAlive) => !isAlive).length;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.all.map((call) => call[Symbol.asyncDispose]()));
  }
}
