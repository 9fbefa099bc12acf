/**
 * Values for a store that others may write to: each signed, bound to its name and good for a while.
 *
 * Bytes: `key id u8 | good until, seconds since the Unix epoch u32 | payload | tag 16 B`. The tag is
 * HMAC-SHA-256 (RFC 2104, truncated as in its §5) of `length of the name u16 | name | value so far`,
 * under a key that HKDF-SHA-256 (RFC 5869) derives from a routing key and the purpose.
 */
import {
  createHmac,
  createSecretKey,
  hkdfSync,
  timingSafeEqual,
  type KeyObject,
} from 'node:crypto';
import type { RoutingKey } from '../../protocol/routing-keys.ts';

const HEADER_LENGTH = 5;
const TAG_LENGTH = 16;
const DERIVED_KEY_LENGTH = 32;
const SECOND = 1000;

/** Bytes a record has beside its payload. */
export const RECORD_OVERHEAD = HEADER_LENGTH + TAG_LENGTH;

/** Signs with the first of its keys and accepts all of them. */
export class SignedRecords {
  readonly #signingKeyId: number;
  readonly #keys: ReadonlyMap<number, KeyObject>;

  /** @param purpose What the records are; those of one purpose are not good for another. */
  constructor(keys: readonly [RoutingKey, ...RoutingKey[]], purpose: string) {
    this.#signingKeyId = keys[0].id.charCodeAt(0);
    this.#keys = new Map(keys.map(({ id, key }) => [id.charCodeAt(0), deriveKey(key, purpose)]));
  }

  /** @param goodUntil Milliseconds since the Unix epoch, kept to the second. */
  seal(name: string, payload: Uint8Array, goodUntil: number): Buffer {
    const record = Buffer.allocUnsafe(payload.length + RECORD_OVERHEAD);
    record[0] = this.#signingKeyId;
    record.writeUInt32BE(Math.ceil(goodUntil / SECOND), 1);
    record.set(payload, HEADER_LENGTH);
    const end = record.length - TAG_LENGTH;
    const key = this.#keys.get(this.#signingKeyId)!;
    record.set(tagOf(key, name, record.subarray(0, end)), end);
    return record;
  }

  /**
   * The payload, as a part of `record`. Total: undefined for anything that was not sealed for that name
   * and purpose with one of the keys, or is good no more.
   *
   * @param now Milliseconds since the Unix epoch.
   */
  open(name: string, record: Buffer, now: number): Buffer | undefined {
    if (record.length < RECORD_OVERHEAD) return undefined;
    const key = this.#keys.get(record[0]!);
    if (!key || record.readUInt32BE(1) * SECOND <= now) return undefined;
    const end = record.length - TAG_LENGTH;
    const tag = tagOf(key, name, record.subarray(0, end));
    return timingSafeEqual(tag, record.subarray(end))
      ? record.subarray(HEADER_LENGTH, end)
      : undefined;
  }
}

function tagOf(key: KeyObject, name: string, signed: Uint8Array): Buffer {
  const nameLength = Buffer.allocUnsafe(2);
  nameLength.writeUInt16BE(Buffer.byteLength(name));
  const hmac = createHmac('sha256', key).update(nameLength).update(name).update(signed);
  return hmac.digest().subarray(0, TAG_LENGTH);
}

function deriveKey(routingKey: Uint8Array, purpose: string): KeyObject {
  const info = `global-relay ${purpose} record`;
  const key = hkdfSync('sha256', routingKey, '', info, DERIVED_KEY_LENGTH);
  return createSecretKey(new Uint8Array(key));
}
