/**
 * Asks Redis for flows: once for each flow at a time, many in one request, and not for more than it
 * should bear however many strangers send packets.
 */
import type { Redis } from 'ioredis';
import { NO_ANSWER, type GuardedRedis } from '../../redis/guarded-redis.ts';
import { AbsentFlows } from './absent-flows.ts';
import { FLOW_RECORD_LENGTH, flowName, type FlowRecords, type KeptFlow } from './flow-records.ts';
import { TokenBucket, type Rate } from './token-bucket.ts';

/** Flows in one request. */
export const READ_BATCH = 512;

/** Flows asked for at a time. */
export const MAX_READS = 8_192;

/** After a restart all live clients ask within some ms; after that only those of lost packets do. */
export const READ_RATE: Rate = { burst: 20_000, perSecond: 5_000 };

/** Plain JSON; all only ever grow. */
export interface ReadCounters {
  /** Flows that were found. */
  readonly hits: number;
  /** Flows that Redis does not have. */
  readonly misses: number;
  /** Not asked, since Redis did not have it a moment ago. */
  readonly negative: number;
  /** Not asked, since too much is asked already or there is no hope for an answer. */
  readonly shed: number;
  /** Asked without an answer. */
  readonly failed: number;
  /** What Redis has is not a record of that flow, or good no more. */
  readonly invalid: number;
}

/**
 * Each record as its bytes, none when there is nothing, a word when it is no text. One script costs a
 * fifth of as many commands; and it sends one byte too much at most, whatever there is.
 */
const READ = `
local records = {}
for i, name in ipairs(KEYS) do
  local record = redis.pcall('GETRANGE', name, 0, ARGV[1])
  records[i] = type(record) == 'string' and record or 'no text'
end
return records`;

interface Read {
  readonly name: string;
  readonly settle: (flow: KeptFlow | undefined) => void;
}

const NOTHING = Promise.resolve(undefined);

export class FlowReads {
  readonly #redis: GuardedRedis;
  readonly #records: FlowRecords;
  readonly #absent = new AbsentFlows();
  readonly #bucket = new TokenBucket(READ_RATE);
  readonly #running = new Map<string, Promise<KeptFlow | undefined>>();
  readonly #waiting: Read[] = [];
  #sending = false;
  readonly #counters = { hits: 0, misses: 0, negative: 0, shed: 0, failed: 0, invalid: 0 };

  constructor(redis: GuardedRedis, records: FlowRecords) {
    this.#redis = redis;
    this.#records = records;
  }

  get counters(): ReadCounters {
    return { ...this.#counters };
  }

  /** Never rejects. @param header Holds the trunk header of the flow's packets at `at`. */
  find(header: Uint8Array, at: number): Promise<KeptFlow | undefined> {
    const now = performance.now();
    const name = flowName(header, at);
    const running = this.#running.get(name);
    if (running) return running;
    if (this.#absent.has(name, now)) {
      this.#counters.negative++;
      return NOTHING;
    }
    if (this.#running.size >= MAX_READS || !this.#redis.ready || !this.#bucket.take(now)) {
      this.#counters.shed++;
      return NOTHING;
    }
    const { promise, resolve } = Promise.withResolvers<KeptFlow | undefined>();
    this.#running.set(name, promise);
    this.#waiting.push({ name, settle: resolve });
    if (!this.#sending) this.#sendSoon();
    return promise;
  }

  /** The flow will be there from now on. */
  expect(name: string): void {
    this.#absent.delete(name);
  }

  /** What else is asked for in this turn of the event loop goes out with it. */
  #sendSoon(): void {
    this.#sending = true;
    setImmediate(() => void this.#send());
  }

  /** One request after another, so that each has its deadline for itself. */
  async #send(): Promise<void> {
    while (this.#waiting.length > 0) await this.#read(this.#waiting.splice(0, READ_BATCH));
    this.#sending = false;
  }

  async #read(reads: readonly Read[]): Promise<void> {
    const names = reads.map(({ name }) => name);
    const values = await this.#redis.run((redis) => readRecords(redis, names));
    for (const [i, { name, settle }] of reads.entries()) {
      this.#running.delete(name);
      settle(values === NO_ANSWER ? this.#failed() : this.#judge(name, values[i]));
    }
  }

  #failed(): undefined {
    this.#counters.failed++;
  }

  #judge(name: string, value: unknown): KeptFlow | undefined {
    const isEmpty = Buffer.isBuffer(value) && value.length === 0;
    const flow = Buffer.isBuffer(value) ? this.#records.open(name, value, Date.now()) : undefined;
    this.#counters[flow ? 'hits' : isEmpty ? 'misses' : 'invalid']++;
    if (!flow) this.#absent.add(name, performance.now());
    return flow;
  }
}

async function readRecords(redis: Redis, names: readonly string[]): Promise<unknown[]> {
  const records = await redis.callBuffer('EVAL', READ, names.length, ...names, FLOW_RECORD_LENGTH);
  if (!Array.isArray(records)) throw new Error('Redis answered something else than records');
  return records;
}
