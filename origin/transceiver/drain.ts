/** How a transceiver ends without cutting calls: it takes no new ones and lets those that are there end. */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';

/** Milliseconds that calls may go on for after a drain began, unless told otherwise. */
export const DRAIN_TIME = 300_000;

/**
 * What clients are told on their `oai-events` channel: that the call will be ended soon, so that they
 * can make a new one, which another transceiver takes, at a moment of their choice.
 */
export interface DrainingEvent {
  readonly type: 'session.draining';
  readonly event_id: string;
  /** Milliseconds until the call is ended. */
  readonly ends_in_ms: number;
}

/** Why a drain is over. */
export type DrainEnd = 'empty' | 'time is up' | 'told to end at once';

export class Drain {
  readonly #endsAt: number;
  readonly #empty = Promise.withResolvers<void>();
  readonly over: Promise<DrainEnd>;

  /** @param time Milliseconds. @param atOnce Ends the drain before. */
  constructor(time: number, atOnce: AbortSignal) {
    this.#endsAt = performance.now() + time;
    this.over = this.#run(time, atOnce);
  }

  /** No session is left. */
  emptied(): void {
    this.#empty.resolve();
  }

  get event(): DrainingEvent {
    return {
      type: 'session.draining',
      event_id: `event_${randomUUID()}`,
      ends_in_ms: Math.max(0, Math.round(this.#endsAt - performance.now())),
    };
  }

  async #run(time: number, atOnce: AbortSignal): Promise<DrainEnd> {
    const stop = new AbortController();
    const timer = delay(time, 'time is up' as const, {
      signal: AbortSignal.any([stop.signal, atOnce]),
    }).catch(() => 'told to end at once' as const);
    const end = await Promise.race([timer, this.#empty.promise.then(() => 'empty' as const)]);
    stop.abort();
    return end;
  }
}
