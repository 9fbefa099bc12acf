/** How many calls each tenant has in a cluster, as far as its transceivers say. */
import { ROSTER_DEAD, type TransceiverReport } from '../protocol/roster.ts';

/**
 * Milliseconds without a word after which a transceiver's calls count as gone: one that lives has joined again
 * by then.
 */
export const CALLS_GONE = 15_000;

/** A transceiver that is joined. */
export interface Joined {
  readonly transceiver: number;
  /** Milliseconds since the Unix epoch of its last report, or of its joining before there is one. */
  readonly heardAt: number;
}

/** Kept in memory alone: what is forgotten is unknown until the next report, which is never long. */
export class RosterCalls {
  readonly #reported = new Map<number, ReadonlyMap<string, number>>();
  /** When links broke, in milliseconds since the Unix epoch. */
  readonly #lost = new Map<number, number>();

  /** @param before Transceivers whose links a restart cut. */
  constructor(before: readonly TransceiverReport[], now: number) {
    for (const { transceiver } of before) this.#lost.set(transceiver, now);
  }

  /** It has joined: what an older link told may be old. */
  join(transceiver: number): void {
    this.leave(transceiver);
  }

  /** Takes what a transceiver reports. */
  report({ transceiver, calls }: TransceiverReport): void {
    this.#lost.delete(transceiver);
    if (calls) this.#reported.set(transceiver, new Map(calls));
    else this.#reported.delete(transceiver);
  }

  /** Its link broke: its calls may go on. */
  lose(transceiver: number, now: number): void {
    this.#reported.delete(transceiver);
    this.#lost.set(transceiver, now);
  }

  /** It left of its own accord, and with it its calls. */
  leave(transceiver: number): void {
    this.#reported.delete(transceiver);
    this.#lost.delete(transceiver);
  }

  /** @returns Undefined while some transceiver may have calls that it has not told of. */
  of(tenant: string, joined: readonly Joined[], now: number): number | undefined {
    for (const [transceiver, at] of this.#lost) {
      if (now - at >= CALLS_GONE) this.#lost.delete(transceiver);
    }
    if (this.#lost.size > 0) return undefined;
    const heard = joined.filter(({ heardAt }) => now - heardAt < CALLS_GONE);
    let sum = 0;
    for (const { transceiver, heardAt } of heard) {
      const calls = this.#reported.get(transceiver);
      if (!calls || now - heardAt >= ROSTER_DEAD) return undefined;
      sum += calls.get(tenant) ?? 0;
    }
    return sum;
  }
}
