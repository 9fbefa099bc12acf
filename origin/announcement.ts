/** Tells a transceiver's cluster where its trunk and its signaling are, through the cluster's Redis. */
import type { Logger } from 'pino';
import type { TrunkAddress } from '../protocol/footprint.ts';
import type { RoutingKey } from '../protocol/routing-keys.ts';
import { NO_ANSWER, type GuardedRedis } from './redis/guarded-redis.ts';
import {
  ANNOUNCEMENT_KEPT,
  ANNOUNCE_INTERVAL,
  TransceiverRecords,
  rosterName,
} from './transceiver-record.ts';

/** Milliseconds after which the set of ids no longer lists one that fell silent. */
const LISTED = 3_600_000;

const ANNOUNCE = `
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
redis.call('ZADD', KEYS[2], ARGV[3], ARGV[4])
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', ARGV[5])
if ARGV[6] ~= '' then redis.call('SET', KEYS[3], ARGV[6], 'PX', ARGV[2]) end
return 1`;

/** A successor of the same id may have announced itself already. */
const WITHDRAW = `
if redis.call('GET', KEYS[1]) == ARGV[1] then
  redis.call('DEL', KEYS[1])
  redis.call('ZREM', KEYS[2], ARGV[2])
  redis.call('DEL', KEYS[3])
end
return 1`;

export interface AnnouncementOptions {
  /** Stays the caller's, to be closed after the announcement. */
  readonly redis: GuardedRedis;
  readonly cluster: number;
  /** Those of the cluster's relays: they trust no address that is not signed. */
  readonly routingKeys: readonly [RoutingKey, ...RoutingKey[]];
  readonly transceiver: number;
  /** As bound. */
  readonly trunk: TrunkAddress;
  /** Where other transceivers of the cluster reach its signaling, if they pass requests on. */
  readonly signaling?: TrunkAddress | undefined;
  readonly log: Logger;
}

export interface Announcement {
  /** Settles once Redis has it for the first time; relays read it within half a second. */
  readonly announced: Promise<void>;
  /** Withdraws it. Never fails. */
  close(): Promise<void>;
}

/** Announces at once and from then on, for as long as it takes. Never throws. */
export function announceTransceiver(options: AnnouncementOptions): Announcement {
  return new RunningAnnouncement(options);
}

class RunningAnnouncement implements Announcement {
  readonly announced: Promise<void>;
  readonly #options: AnnouncementOptions;
  readonly #records: TransceiverRecords;
  readonly #signalingRecords: TransceiverRecords;
  readonly #keys: readonly [string, string, string];
  readonly #timer: NodeJS.Timeout;
  readonly #forgetRedis: () => void;
  readonly #succeeded: () => void;
  /** What was announced last. */
  #record: Buffer = Buffer.alloc(0);
  #running: Promise<void> = Promise.resolve();

  constructor(options: AnnouncementOptions) {
    const { redis, cluster, routingKeys, transceiver } = options;
    this.#options = options;
    this.#records = new TransceiverRecords(cluster, routingKeys);
    this.#signalingRecords = new TransceiverRecords(cluster, routingKeys, 'signaling');
    this.#keys = [
      this.#records.nameOf(transceiver),
      rosterName(cluster),
      this.#signalingRecords.nameOf(transceiver),
    ];
    const { promise, resolve } = Promise.withResolvers<void>();
    this.announced = promise;
    this.#succeeded = resolve;
    this.#timer = setInterval(() => this.#start(), ANNOUNCE_INTERVAL).unref();
    this.#forgetRedis = redis.onReady(() => this.#start());
    this.#start();
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    this.#forgetRedis();
    // What is under way must not put back what is withdrawn here.
    await this.#running;
    const { redis, transceiver } = this.#options;
    const keys = this.#keys;
    await redis.run((client) =>
      client.eval(WITHDRAW, keys.length, ...keys, this.#record, transceiver),
    );
  }

  #start(): void {
    this.#running = this.#running.then(() => this.#announce());
  }

  async #announce(): Promise<void> {
    const { redis, transceiver, trunk, signaling, log } = this.#options;
    const now = Date.now();
    const record = this.#records.seal(transceiver, trunk, now);
    const reach = signaling ? this.#signalingRecords.seal(transceiver, signaling, now) : '';
    this.#record = record;
    const keys = this.#keys;
    const answer = await redis.run((client) =>
      client.eval(
        ANNOUNCE,
        keys.length,
        ...keys,
        record,
        ANNOUNCEMENT_KEPT,
        now,
        transceiver,
        now - LISTED,
        reach,
      ),
    );
    if (answer === NO_ANSWER) return;
    log.debug({ transceiver, trunk }, 'announced to the relays');
    this.#succeeded();
  }
}
