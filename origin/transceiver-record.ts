/**
 * How a cluster's Redis says where its transceivers are: `transceiver:CLUSTER:ID` holds the trunk address
 * of one, signed, `signaling:CLUSTER:ID` that of its signaling, and `transceivers:CLUSTER` is a sorted set
 * of the ids with when each was last heard of.
 */
import { ADDRESS_LENGTH, formatAddress, parseAddress } from '../protocol/address.ts';
import type { TrunkAddress } from '../protocol/footprint.ts';
import type { RoutingKey } from '../protocol/routing-keys.ts';
import { RECORD_OVERHEAD, SignedRecords } from './redis/signed-records.ts';

/** Milliseconds between two announcements. */
export const ANNOUNCE_INTERVAL = 2_000;

/** Milliseconds that Redis keeps an announcement. */
export const ANNOUNCEMENT_KEPT = 10_000;

/** Milliseconds that a record's signature is good beyond that, for clocks differ. */
const CLOCK_TOLERANCE = 60_000;

/** Which address of a transceiver a record holds. */
export type RecordPurpose = 'transceiver' | 'signaling';

const PAYLOAD_LENGTH = ADDRESS_LENGTH + 2;
const MAX_ID = 0xffff;

export const TRANSCEIVER_RECORD_LENGTH = PAYLOAD_LENGTH + RECORD_OVERHEAD;

/** Of the sorted set of ids. */
export function rosterName(cluster: number): string {
  return `transceivers:${cluster}`;
}

export class TransceiverRecords {
  readonly #cluster: number;
  readonly #purpose: RecordPurpose;
  readonly #records: SignedRecords;

  constructor(
    cluster: number,
    routingKeys: readonly [RoutingKey, ...RoutingKey[]],
    purpose: RecordPurpose = 'transceiver',
  ) {
    this.#cluster = cluster;
    this.#purpose = purpose;
    this.#records = new SignedRecords(routingKeys, purpose);
  }

  nameOf(transceiver: number): string {
    return `${this.#purpose}:${this.#cluster}:${transceiver}`;
  }

  seal(transceiver: number, { address, port }: TrunkAddress, now: number): Buffer {
    const payload = Buffer.alloc(PAYLOAD_LENGTH);
    payload.set(parseAddress(address));
    payload.writeUInt16BE(port, ADDRESS_LENGTH);
    const goodUntil = now + ANNOUNCEMENT_KEPT + CLOCK_TOLERANCE;
    return this.#records.seal(this.nameOf(transceiver), payload, goodUntil);
  }

  /** Total: undefined for any bytes that are not that transceiver's record, and good now. */
  open(transceiver: number, record: Buffer, now: number): TrunkAddress | undefined {
    if (record.length !== TRANSCEIVER_RECORD_LENGTH) return undefined;
    const payload = this.#records.open(this.nameOf(transceiver), record, now);
    if (!payload) return undefined;
    return { address: formatAddress(payload), port: payload.readUInt16BE(ADDRESS_LENGTH) };
  }
}

/** Undefined for what is no transceiver's id. */
export function parseTransceiverId(text: string): number | undefined {
  const id = /^(0|[1-9]\d{0,4})$/.test(text) ? Number(text) : NaN;
  return id <= MAX_ID ? id : undefined;
}
