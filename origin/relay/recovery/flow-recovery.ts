/**
 * Keeps a relay's proven flows in Redis, taken from the shared table as they come, and finds them there
 * when the relay has lost them: after a restart, or when another relay of the pool had them. It bridges
 * the seconds until a client's next check would make the flow anew, and nothing depends on it.
 */
import { TRUNK_HEADER_LENGTH } from '../../../protocol/trunk.ts';
import type { RoutingKey } from '../../../protocol/routing-keys.ts';
import type { GuardedRedis, RedisCounters } from '../../redis/guarded-redis.ts';
import type { FlowMemory } from '../flow-memory.ts';
import { FlowTable } from '../flow-table.ts';
import { Histogram, type HistogramCounts } from '../histogram.ts';
import { steadyNow } from '../moment.ts';
import { FlowReads, type ReadCounters } from './flow-reads.ts';
import { FlowRecords, flowName, type KeptFlow } from './flow-records.ts';
import { FlowWalk } from './flow-walk.ts';
import { FlowWrites, type WriteCounters } from './flow-writes.ts';

/** Milliseconds between two looks for flows to keep. */
const LOOK_INTERVAL = 50;

/** Milliseconds in which looks cover the whole table: a flow is kept as soon after it is proven. */
export const LOOK_ROUND = 1_000;

/** Flows kept after one look at most: forwarding does not wait for it, but other work here does. */
const LARGEST_SLICE = 1_024;

/** Idle times of the relay that Redis keeps a flow: one until it is written again, and one after. */
const KEPT_IDLE_TIMES = 2;

/** Milliseconds. */
const SECOND = 1000;

/** Bounds; a read that takes longer than its deadline is given up. */
const REBUILD_SECONDS = [0.5e-3, 1e-3, 2.5e-3, 5e-3, 10e-3, 25e-3, 50e-3, 100e-3, 250e-3];

export interface FlowRecoveryOptions {
  /** Stays the caller's, to be closed after the recovery. */
  readonly redis: GuardedRedis;
  readonly routingKeys: readonly [RoutingKey, ...RoutingKey[]];
  /** The flows of the relay. */
  readonly flows: FlowMemory;
}

/**
 * Takes flows that were kept into the table, as far as they are found. Never rejects, and settles soon.
 *
 * @param headers The flows' trunk headers, one behind the other.
 */
export type RestoreFlows = (headers: Uint8Array) => Promise<void>;

/** Plain JSON. */
export interface RecoveryCounters {
  /** Seconds from a packet without its flow to the flow that was restored for it. */
  readonly rebuild: HistogramCounts;
  readonly reads: ReadCounters;
  readonly writes: WriteCounters;
  readonly redis: RedisCounters;
}

export class FlowRecovery {
  readonly #redis: GuardedRedis;
  readonly #reads: FlowReads;
  readonly #writes: FlowWrites;
  readonly #walk: FlowWalk;
  readonly #flows: FlowTable;
  readonly #rebuild = new Histogram(REBUILD_SECONDS);
  readonly #timer: NodeJS.Timeout;
  readonly #forgetRedis: () => void;
  #lookedAt = performance.now();

  constructor({ redis, routingKeys, flows }: FlowRecoveryOptions) {
    const { idle } = flows.limits;
    const records = new FlowRecords(routingKeys);
    this.#redis = redis;
    this.#reads = new FlowReads(redis, records);
    this.#writes = new FlowWrites(redis, records, KEPT_IDLE_TIMES * idle + LOOK_ROUND);
    this.#walk = new FlowWalk(flows, idle);
    this.#flows = new FlowTable(flows);
    this.#timer = setInterval(() => this.#look(), LOOK_INTERVAL).unref();
    // It may have come back empty.
    this.#forgetRedis = redis.onReady(() => this.#walk.forget());
  }

  /**
   * Finds a flow that was kept, by this relay or another. Never rejects, and settles in less than a second.
   *
   * @param header Holds the trunk header of the flow's packets at `at`.
   */
  find(header: Uint8Array, at: number): Promise<KeptFlow | undefined> {
    return this.#reads.find(header, at);
  }

  readonly restore: RestoreFlows = async (headers) => {
    const restored: Promise<void>[] = [];
    for (let at = 0; at < headers.length; at += TRUNK_HEADER_LENGTH) {
      restored.push(this.#restore(headers, at));
    }
    await Promise.all(restored);
  };

  counters(): RecoveryCounters {
    return {
      rebuild: this.#rebuild.counts,
      reads: this.#reads.counters,
      writes: this.#writes.counters,
      redis: this.#redis.counters(),
    };
  }

  /** Keeps the newest flows, if Redis takes them. Never rejects. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    this.#forgetRedis();
    await this.#writes.flush();
    this.#keep(this.#walk.length, this.#writes.room);
    await this.#writes.flush();
  }

  async #restore(headers: Uint8Array, at: number): Promise<void> {
    const start = performance.now();
    const kept = await this.find(headers, at);
    if (!kept || !this.#flows.restore(headers, at, kept.route, kept.token, steadyNow())) return;
    this.#rebuild.observe((performance.now() - start) / SECOND, 1);
  }

  #look(): void {
    const now = performance.now();
    const passed = now - this.#lookedAt;
    this.#lookedAt = now;
    if (!this.#redis.ready) return;
    const places = Math.ceil((this.#walk.length * passed) / LOOK_ROUND);
    this.#keep(places, Math.min(LARGEST_SLICE, this.#writes.room));
    void this.#writes.flush();
  }

  #keep(places: number, flows: number): void {
    this.#walk.advance(places, flows, steadyNow(), (header, token) => {
      const name = flowName(header, 0);
      this.#reads.expect(name);
      this.#writes.queue(name, token);
    });
  }
}
