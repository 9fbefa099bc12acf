/**
 * Writes proven flows to Redis behind the forwarding: what is to be written waits in a bounded queue, in
 * which a flow's newest token takes the place of an older one, and goes out many at a time.
 */
import { UFRAG_LENGTH } from '../../../protocol/ufrag.ts';
import { NO_ANSWER, type GuardedRedis } from '../../redis/guarded-redis.ts';
import { copyBytes } from '../bytes.ts';
import { flowName, type FlowRecords } from './flow-records.ts';

/** Flows in one request: few enough that no read waits long behind them. */
export const WRITE_BATCH = 256;

/** Flows that wait, as they do while Redis is away; then the oldest are let go. */
export const MAX_WRITES = 65_536;

/** Milliseconds between two looks at the queue. */
const WRITE_INTERVAL = 20;

/** Plain JSON; all but `queued` only ever grow. */
export interface WriteCounters {
  readonly queued: number;
  readonly written: number;
  /** Let go for newer ones while the queue was full. */
  readonly dropped: number;
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
  readonly #timer: NodeJS.Timeout;
  #running: Promise<void> | undefined;
  readonly #counters = { written: 0, dropped: 0, failed: 0 };

  /** @param keep Milliseconds that Redis keeps a flow. */
  constructor(redis: GuardedRedis, records: FlowRecords, keep: number) {
    this.#redis = redis;
    this.#records = records;
    this.#keep = keep;
    this.#timer = setInterval(() => this.#start(), WRITE_INTERVAL).unref();
  }

  get counters(): WriteCounters {
    return { queued: this.#queue.size, ...this.#counters };
  }

  /** Flows that can be queued without letting go of others. */
  get room(): number {
    return MAX_WRITES - this.#queue.size;
  }

  /**
   * @param header Holds the trunk header of the flow's packets at `at`.
   * @param token Begins with the ufrag's bytes.
   * @returns The flow's name.
   */
  save(header: Uint8Array, at: number, token: Uint8Array): string {
    const name = flowName(header, at);
    if (!this.#queue.has(name) && this.room <= 0) {
      for (const oldest of this.#queue.keys()) {
        this.#queue.delete(oldest);
        this.#counters.dropped++;
        break;
      }
    }
    this.#queue.set(name, copyBytes(token, 0, UFRAG_LENGTH));
    return name;
  }

  /** Writes what is queued, if that goes at once, and ends. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#running;
    this.#start();
    await this.#running;
  }

  #start(): void {
    if (this.#running || this.#queue.size === 0 || !this.#redis.ready) return;
    this.#running = this.#drain().finally(() => (this.#running = undefined));
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
    for (const [name, token] of batch) {
      if (this.#queue.has(name)) continue;
      if (this.room > 0) this.#queue.set(name, token);
      else this.#counters.dropped++;
    }
  }
}
