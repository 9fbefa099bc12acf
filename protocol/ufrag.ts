/**
 * The routed ufrag: an ICE username fragment that says, sealed, which transceiver owns the session.
 *
 * Text: one key-id character, then one AES-128 block in standard base64 without padding; 23 ice-chars
 * (RFC 8839 §5.4 allows no base64url). Block before encryption, big endian:
 * `cluster u16 | transceiver u16 | expiry u24 | nonce 40 bit | zero 32 bit`, where expiry counts
 * minutes since {@link UFRAG_EPOCH}. It is enciphered as a single AES block (encode-then-encipher, as
 * in draft-ietf-quic-load-balancers §5.4.1), so the zero tail is a 32-bit check of the whole block.
 */
import { createCipheriv, type Cipheriv } from 'node:crypto';
import { AesBlockDecipher } from './aes-block.ts';
import { requireInteger } from './integer.ts';
import type { RoutingKey } from './routing-keys.ts';

/** Characters in a routed ufrag. */
export const UFRAG_LENGTH = 23;

/** Milliseconds since the Unix epoch at which expiry minute 0 lies: 2026-01-01T00:00Z. */
export const UFRAG_EPOCH = Date.UTC(2026, 0, 1);

const MINUTE = 60_000;
const MAX_EXPIRY_MINUTES = 0xff_ff_ff;
const BLOCK_LENGTH = 16;
const NONCE_OFFSET = 7;
const NONCE_LENGTH = 5;

const ICE_CHARS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const NOT_ICE_CHAR = 255;
const SEXTETS = new Uint8Array(256).fill(NOT_ICE_CHAR);
for (let i = 0; i < ICE_CHARS.length; i++) SEXTETS[ICE_CHARS.charCodeAt(i)] = i;

/** Where a session lives. */
export interface Route {
  /** Cluster id, 1 to 65535: the `id` of a region file. */
  readonly cluster: number;
  /** Transceiver id within the cluster, 0 to 65535. */
  readonly transceiver: number;
  /** Milliseconds since the Unix epoch; sealing rounds up to the next whole minute. */
  readonly expiresAt: number;
}

/** A route, to be set for one ufrag after another. */
export type RouteSlot = { -readonly [Field in keyof Route]: Route[Field] };

/** Why a ufrag was refused. */
export type UfragRejection = 'malformed' | 'unknown-key' | 'forged' | 'expired';

export type OpenedUfrag =
  | { readonly ok: true; readonly route: Route }
  | { readonly ok: false; readonly reason: UfragRejection };

/** Seals with the first of its keys and opens with all of them, so that keys rotate without loss. */
export class UfragCodec {
  readonly #sealingKeyId: string;
  readonly #cipher: Cipheriv;
  /** By the byte of the key id. */
  readonly #deciphers = Array.from<AesBlockDecipher | undefined>({ length: 256 });

  /** @param keys One or two keys; the first one seals. */
  constructor(keys: readonly [RoutingKey, ...RoutingKey[]]) {
    this.#sealingKeyId = keys[0].id;
    // Without padding ECB yields each block at once, so one cipher object serves every block.
    this.#cipher = createCipheriv('aes-128-ecb', keys[0].key, null).setAutoPadding(false);
    for (const { id, key } of keys) this.#deciphers[id.charCodeAt(0)] = new AesBlockDecipher(key);
  }

  /**
   * @param nonce 5 bytes that make the ufrag unique; random unless a test needs a known answer.
   * @throws RangeError when an id or the expiry does not fit its field.
   */
  seal(route: Route, nonce?: Uint8Array): string {
    const minutes = Math.ceil((route.expiresAt - UFRAG_EPOCH) / MINUTE);
    requireInteger('cluster', route.cluster, 1, 0xffff);
    requireInteger('transceiver', route.transceiver, 0, 0xffff);
    requireInteger('expiry in minutes', minutes, 0, MAX_EXPIRY_MINUTES);
    const block = new Uint8Array(BLOCK_LENGTH);
    const view = new DataView(block.buffer);
    view.setUint16(0, route.cluster);
    view.setUint16(2, route.transceiver);
    view.setUint8(4, minutes >>> 16);
    view.setUint16(5, minutes & 0xffff);
    if (nonce) block.set(nonce.subarray(0, NONCE_LENGTH), NONCE_OFFSET);
    else crypto.getRandomValues(block.subarray(NONCE_OFFSET, NONCE_OFFSET + NONCE_LENGTH));
    return this.#sealingKeyId + this.#cipher.update(block).toString('base64').slice(0, 22);
  }

  /**
   * Total: any bytes give a result, none throws.
   *
   * @param bytes The ufrag as ASCII, from `start` to `end`.
   * @param now Milliseconds since the Unix epoch.
   */
  open(bytes: Uint8Array, now: number, start = 0, end = bytes.length): OpenedUfrag {
    const route: RouteSlot = { cluster: 0, transceiver: 0, expiresAt: 0 };
    if (end - start !== UFRAG_LENGTH) return { ok: false, reason: 'malformed' };
    const reason = this.read(route, bytes, start);
    if (reason) return { ok: false, reason };
    return route.expiresAt > now ? { ok: true, route } : { ok: false, reason: 'expired' };
  }

  /**
   * As {@link open}, of the ufrag that begins at `start`, yet builds nothing, and leaves it to the caller
   * to see whether the session is over.
   *
   * @param route Takes what the ufrag says, unless it is refused.
   */
  read(
    route: RouteSlot,
    bytes: Uint8Array,
    start: number,
  ): Exclude<UfragRejection, 'expired'> | undefined {
    if (start + UFRAG_LENGTH > bytes.length) return 'malformed';
    const keyId = bytes[start]!;
    const decipher = this.#deciphers[keyId];
    if (!decipher) return SEXTETS[keyId] === NOT_ICE_CHAR ? 'malformed' : 'unknown-key';
    const { block } = decipher;
    if (!decodeBlock(bytes, start + 1, block)) return 'malformed';
    decipher.decrypt();
    const cluster = block[0]! >>> 16;
    if (block[3] !== 0 || cluster === 0) return 'forged';
    route.cluster = cluster;
    route.transceiver = block[0]! & 0xffff;
    route.expiresAt = UFRAG_EPOCH + (block[1]! >>> 8) * MINUTE;
    return undefined;
  }
}

/** Fills the block from 22 base64 characters; refuses a second spelling of the same block. */
function decodeBlock(bytes: Uint8Array, at: number, block: Int32Array): boolean {
  let bits = 0;
  let held = 0;
  let length = 0;
  for (let i = 0; i < UFRAG_LENGTH - 1; i++) {
    const sextet = SEXTETS[bytes[at + i]!]!;
    if (sextet === NOT_ICE_CHAR) return false;
    bits = (bits << 6) | sextet;
    held += 6;
    if (held >= 8) {
      held -= 8;
      // Four bytes shift out whatever the word held before.
      block[length >> 2] = (block[length >> 2]! << 8) | (bits >>> held);
      length++;
      bits &= (1 << held) - 1;
    }
  }
  return bits === 0;
}
