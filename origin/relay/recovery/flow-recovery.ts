/**
 * Keeps a relay's proven flows in Redis, and finds them there when the relay has lost them: after a
 * restart, or when another relay of the pool had them. It bridges the seconds until a client's next
 * check would make the flow anew, and nothing depends on it.
 */
import type { RoutingKey } from '../../../protocol/routing-keys.ts';
import type { GuardedRedis } from '../../redis/guarded-redis.ts';
import type { FlowMemory } from '../flow-memory.ts';
import { FlowReads, type ReadCounters } from './flow-reads.ts';
import { FlowRecords, type KeptFlow } from './flow-records.ts';
import { FlowWalk } from './flow-walk.ts';
import { FlowWrites, type WriteCounters } from './flow-writes.ts';

/** Milliseconds between two slices of flows that are written again. */
const REFRESH_INTERVAL = 100;

/** Flows in a slice at most: forwarding does not wait for it, but other work of this thread does. */
const LARGEST_SLICE = 2_048;

/** How long Redis keeps a flow, in idle times of the relay: one until it is written again, one after. */
const KEPT_IDLE_TIMES = 2;

export interface FlowRecoveryOptions {
  /** Stays the caller's, to be closed after the recovery. */
  readonly redis: GuardedRedis;
  readonly routingKeys: readonly [RoutingKey, ...RoutingKey[]];
  /** The flows of the relay. */
  readonly flows: FlowMemory;
}

/** Plain JSON. */
export interface RecoveryCounters {
  readonly reads: ReadCounters;
  readonly writes: WriteCounters;
}

export class FlowRecovery {
  readonly #redis: GuardedRedis;
  readonly #reads: FlowReads;
  readonly #writes: FlowWrites;
  readonly #walk: FlowWalk;
  readonly #round: number;
  readonly #timer: NodeJS.Timeout;
  readonly #forgetRedis: () => void;
  #refreshedAt = performance.now();
  /** Places to be looked at that were not yet. */
  #due = 0;

  constructor({ redis, routingKeys, flows }: FlowRecoveryOptions) {
    const { idle } = flows.limits;
    const records = new FlowRecords(routingKeys);
    this.#redis = redis;
    this.#reads = new FlowReads(redis, records);
    this.#writes = new FlowWrites(redis, records, KEPT_IDLE_TIMES * idle);
    this.#walk = new FlowWalk(flows);
    this.#round = idle;
    this.#timer = setInterval(() => this.#refresh(), REFRESH_INTERVAL).unref();
    // It may have come back empty: all flows are due, from wherever the round is.
    this.#forgetRedis = redis.onReady(() => (this.#due = this.#walk.length));
  }

  /**
   * Keeps a flow that has just been proven, or got another token; while it lives it is kept on.
   *
   * @param header Holds the trunk header of the flow's packets at `at`.
   * @param token Begins with the ufrag's bytes.
   */
  save(header: Uint8Array, at: number, token: Uint8Array): void {
    this.#reads.expect(this.#writes.save(header, at, token));
  }

  /**
   * Finds a flow that was kept, by this relay or another. Never rejects, and settles in less than a second.
   *
   * @param header Holds the trunk header of the flow's packets at `at`.
   */
  find(header: Uint8Array, at: number): Promise<KeptFlow | undefined> {
    return this.#reads.find(header, at);
  }

  counters(): RecoveryCounters {
    return { reads: this.#reads.counters, writes: this.#writes.counters };
  }

  /** Writes what still waits to be written, if Redis takes it. Never rejects. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    this.#forgetRedis();
    await this.#writes.close();
  }

  /** Writes again what is due, so that one round over all flows takes one idle time. */
  #refresh(): void {
    const now = performance.now();
    const passed = now - this.#refreshedAt;
    this.#refreshedAt = now;
    // New flows come first: what is written again must not take their place in the queue.
    if (!this.#redis.ready) return;
    const { length } = this.#walk;
    this.#due = Math.min(length, this.#due + (length * passed) / this.#round);
    const count = Math.min(Math.floor(this.#due), LARGEST_SLICE, this.#writes.room);
    this.#due -= count;
    this.#walk.advance(count, Date.now(), (header, token) => this.#writes.save(header, 0, token));
  }
}
