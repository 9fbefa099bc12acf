/**
 * The directory of a pool of relays: reads from Redis where the cluster's transceivers are. While Redis
 * is away it stays as it was last, and so it does while Redis knows of none at all: a Redis that lost
 * what it held is more likely than a cluster that lost all its transceivers, and costs calls.
 */
import type { Redis } from 'ioredis';
import type { Logger } from 'pino';
import type { TrunkAddress } from '../protocol/footprint.ts';
import type { RoutingKey } from '../protocol/routing-keys.ts';
import { MemoryDirectory, type DirectoryListener, type TransceiverDirectory } from './directory.ts';
import type { GuardedRedis } from './redis/guarded-redis.ts';
import {
  TRANSCEIVER_RECORD_LENGTH,
  TransceiverRecords,
  parseTransceiverId,
  rosterName,
} from './transceiver-record.ts';

/** Milliseconds between two readings, so that a new transceiver is known before its first client comes. */
export const READ_INTERVAL = 500;

/** Milliseconds of good readings without a transceiver until it is forgotten: two announcements. */
export const FORGET_AFTER = 5_000;

/** Transceivers of a cluster; those last heard of come first. */
export const MAX_TRANSCEIVERS = 4_096;

/** Pairs of an id and its record, no more of which is ever sent than one byte too much. */
const READ = `
local ids = redis.pcall('ZREVRANGE', KEYS[1], 0, ARGV[1])
if ids.err then return 'no set' end
local pairs = {}
for _, id in ipairs(ids) do
  local record = redis.pcall('GETRANGE', ARGV[2] .. id, 0, ARGV[3])
  pairs[#pairs + 1] = string.sub(id, 1, 6)
  pairs[#pairs + 1] = type(record) == 'string' and record or 'no text'
end
return pairs`;

export interface RedisDirectoryOptions {
  /** Stays the caller's, to be closed after the directory. */
  readonly redis: GuardedRedis;
  readonly cluster: number;
  readonly routingKeys: readonly [RoutingKey, ...RoutingKey[]];
  readonly log: Logger;
}

export class RedisDirectory implements TransceiverDirectory {
  readonly #redis: GuardedRedis;
  readonly #log: Logger;
  readonly #roster: string;
  readonly #records: TransceiverRecords;
  readonly #known = new MemoryDirectory();
  readonly #trunks = new Map<number, TrunkAddress>();
  /** Since when readings lack a transceiver that is still known. */
  readonly #missing = new Map<number, number>();
  readonly #timer: NodeJS.Timeout;
  readonly #forgetRedis: () => void;
  /** Those whose records were complained of. */
  readonly #refused = new Set<number>();
  #reading: Promise<void> | undefined;

  constructor({ redis, cluster, routingKeys, log }: RedisDirectoryOptions) {
    this.#redis = redis;
    this.#log = log;
    this.#roster = rosterName(cluster);
    this.#records = new TransceiverRecords(cluster, routingKeys);
    this.#timer = setInterval(() => this.#start(), READ_INTERVAL).unref();
    this.#forgetRedis = redis.onReady(() => this.#start());
    this.#start();
  }

  watch(listener: DirectoryListener): () => void {
    return this.#known.watch(listener);
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    this.#forgetRedis();
    await this.#reading;
  }

  #start(): void {
    this.#reading ??= this.#read().finally(() => (this.#reading = undefined));
  }

  async #read(): Promise<void> {
    const answer = await this.#redis.run((redis) => this.#ask(redis));
    // Only readings that follow one another tell that a transceiver is gone.
    if (Array.isArray(answer)) this.#learn(this.#verified(answer));
    else this.#missing.clear();
  }

  #ask(redis: Redis): Promise<unknown> {
    return redis.callBuffer(
      'EVAL',
      READ,
      1,
      this.#roster,
      MAX_TRANSCEIVERS - 1,
      this.#records.nameOf(0).slice(0, -1),
      TRANSCEIVER_RECORD_LENGTH,
    );
  }

  #verified(answer: readonly unknown[]): Map<number, TrunkAddress> {
    const now = Date.now();
    const found = new Map<number, TrunkAddress>();
    for (let i = 0; i + 1 < answer.length; i += 2) {
      const id = parseTransceiverId(String(answer[i]));
      const record = answer[i + 1];
      if (id === undefined || !Buffer.isBuffer(record) || record.length === 0) continue;
      const trunk = this.#records.open(id, record, now);
      if (trunk) found.set(id, trunk);
      else this.#refuse(id);
    }
    return found;
  }

  #refuse(transceiver: number): void {
    if (this.#refused.has(transceiver)) return;
    this.#refused.add(transceiver);
    this.#log.warn(
      { transceiver },
      'A transceiver is announced without a good signature; compare its ROUTING_KEYS and its clock',
    );
  }

  #learn(found: ReadonlyMap<number, TrunkAddress>): void {
    for (const [transceiver, trunk] of found) {
      this.#missing.delete(transceiver);
      this.#refused.delete(transceiver);
      const known = this.#trunks.get(transceiver);
      if (known?.address === trunk.address && known.port === trunk.port) continue;
      this.#log.info({ transceiver, trunk }, 'The cluster has a transceiver');
      this.#trunks.set(transceiver, trunk);
      this.#known.add(transceiver, trunk);
    }
    if (found.size === 0) this.#missing.clear();
    else this.#missAllBut(found);
  }

  #missAllBut(found: ReadonlyMap<number, TrunkAddress>): void {
    for (const transceiver of this.#trunks.keys()) {
      if (!found.has(transceiver)) this.#miss(transceiver);
    }
  }

  #miss(transceiver: number): void {
    const now = performance.now();
    const since = this.#missing.get(transceiver) ?? now;
    this.#missing.set(transceiver, since);
    if (now - since < FORGET_AFTER) return;
    this.#log.info({ transceiver }, 'The cluster has a transceiver no more');
    this.#missing.delete(transceiver);
    this.#trunks.delete(transceiver);
    this.#known.remove(transceiver);
  }
}
