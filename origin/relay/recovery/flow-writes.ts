/**
 * Writes proven flows to Redis behind the forwarding: what is to be written waits in a short queue, in
 * which a flow's newest token takes the place of an older one, and goes out many at a time.
 */
import { UFRAG_LENGTH } from '../../../protocol/ufrag.ts';
import { NO_ANSWER, type GuardedRedis } from '../../redis/guarded-redis.ts';
import { copyBytes } from '../bytes.ts';
import type { FlowRecords } from './flow-records.ts';

/** Flows in one request: few enough that no read waits long behind them. */
export const WRITE_BATCH = 256;

/** Flows that wait: the table holds the others, until there is room. */
export const MAX_WRITES = 4_096;

/** Plain JSON; all but `queued` only ever grow. */
export interface WriteCounters {
  readonly queued: number;
  readonly written: number;
  /** Requests that failed; what they held is tried again. */
  readonly failed: number;
}

/** One script costs a tenth of as many commands. */
const WRITE = `
for i, name in ipairs(KEYS) do
  redis.call('SET', name, ARGV[i + 1], 'PX', ARGV[1])
end
return #KEYS`;

export class FlowWrites {
  readonly #redis: GuardedRedis;
  readonly #records: FlowRecords;
  readonly #keep: number;
  readonly #queue = new Map<string, Uint8Array>();
  #running: Promise<void> | undefined;
  readonly #counters = { written: 0, failed: 0 };

  /** @param keep Milliseconds that Redis keeps a flow. */
  constructor(redis: GuardedRedis, records: FlowRecords, keep: number) {
    this.#redis = redis;
    this.#records = records;
    this.#keep = keep;
  }

  get counters(): WriteCounters {
    return { queued: this.#queue.size, ...this.#counters };
  }

  /** Flows that may be queued now. */
  get room(): number {
    return Math.max(0, MAX_WRITES - this.#queue.size);
  }

  /** @param token Begins with the ufrag's bytes; they are copied. */
  queue(name: string, token: Uint8Array): void {
    this.#queue.set(name, copyBytes(token, 0, UFRAG_LENGTH));
  }

  /** Writes what is queued, if Redis takes it now; what it does not take stays. Never rejects. */
  flush(): Promise<void> {
    this.#running ??= this.#drain().finally(() => (this.#running = undefined));
    return this.#running;
  }

  async #drain(): Promise<void> {
    while (this.#queue.size > 0 && this.#redis.ready) {
      if (!(await this.#write(this.#takeBatch()))) return;
    }
  }

  #takeBatch(): [string, Uint8Array][] {
    const batch = this.#queue.entries().take(WRITE_BATCH).toArray();
    for (const [name] of batch) this.#queue.delete(name);
    return batch;
  }

  async #write(batch: readonly [string, Uint8Array][]): Promise<boolean> {
    const goodUntil = Date.now() + this.#keep;
    const names = batch.map(([name]) => name);
    const records = batch.map(([name, token]) => this.#records.seal(name, token, goodUntil));
    const written = await this.#redis.run((redis) =>
      redis.eval(WRITE, names.length, ...names, this.#keep, ...records),
    );
    if (written === NO_ANSWER) {
      this.#counters.failed++;
      this.#putBack(batch);
      return false;
    }
    this.#counters.written += batch.length;
    return true;
  }

  #putBack(batch: readonly [string, Uint8Array][]): void {
    for (const [name, token] of batch) if (!this.#queue.has(name)) this.#queue.set(name, token);
  }
}
