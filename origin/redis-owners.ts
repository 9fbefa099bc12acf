/** Where the other transceivers of a cluster take signaling, out of the cluster's Redis. */
import type { RoutingKey } from '../protocol/routing-keys.ts';
import { NO_ANSWER, type GuardedRedis } from './redis/guarded-redis.ts';
import { TRANSCEIVER_RECORD_LENGTH, TransceiverRecords } from './transceiver-record.ts';
import type { OwnerPlace, Owners } from './transceiver/owner-forwarding.ts';

export class RedisOwners implements Owners {
  readonly #redis: GuardedRedis;
  readonly #records: TransceiverRecords;
  /** Where each was when Redis told last: it is most likely still there while Redis is away. */
  readonly #last = new Map<number, OwnerPlace>();

  /** @param redis Stays the caller's. */
  constructor(
    redis: GuardedRedis,
    cluster: number,
    routingKeys: readonly [RoutingKey, ...RoutingKey[]],
  ) {
    this.#redis = redis;
    this.#records = new TransceiverRecords(cluster, routingKeys, 'signaling');
  }

  async find(transceiver: number): Promise<OwnerPlace> {
    const name = this.#records.nameOf(transceiver);
    // However much is stored there, no more of it is sent than one byte too much.
    const answer = await this.#redis.run((redis) =>
      redis.getrangeBuffer(name, 0, TRANSCEIVER_RECORD_LENGTH),
    );
    if (answer === NO_ANSWER) return this.#last.get(transceiver) ?? 'unknown';
    const place = this.#records.open(transceiver, answer, Date.now());
    if (place) this.#last.set(transceiver, place);
    else this.#last.delete(transceiver);
    return place ?? 'nowhere';
  }
}
