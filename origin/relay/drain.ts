/** How a relay ends without cutting calls: it goes on forwarding until time is up or nothing comes. */
import { setTimeout as delay } from 'node:timers/promises';
import type { RelayCounters } from './counters.ts';

/** Milliseconds to forward on at most, unless told otherwise: calls have moved or ended by then. */
export const DRAIN_TIME = 30_000;

/** Milliseconds without a forwarded packet after which no call is left: clients check every 2 to 6 s. */
export const DRAIN_QUIET = 10_000;

const POLL = 50;

export interface DrainOptions {
  readonly time: number;
  readonly quiet: number;
  readonly counters: () => Pick<RelayCounters, 'toTrunk' | 'toClients'>;
  /** Ends the drain at once. */
  readonly signal: AbortSignal;
}

export type DrainEnd = 'time is up' | 'no packets come' | 'told to end at once';

/** Settles when the relay may be closed. Packets that are dropped do not keep it. */
export async function drained({ time, quiet, counters, signal }: DrainOptions): Promise<DrainEnd> {
  const start = performance.now();
  let packets = forwarded(counters());
  let packetsAt = start;
  while (!signal.aborted) {
    const now = performance.now();
    if (now - start >= time) return 'time is up';
    const count = forwarded(counters());
    if (count !== packets) {
      packets = count;
      packetsAt = now;
    } else if (now - packetsAt >= quiet) {
      return 'no packets come';
    }
    await delay(POLL, undefined, { signal }).catch(() => undefined);
  }
  return 'told to end at once';
}

function forwarded({ toTrunk, toClients }: Pick<RelayCounters, 'toTrunk' | 'toClients'>): number {
  return toTrunk.packets + toClients.packets;
}
