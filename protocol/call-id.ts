/**
 * The call id: what a client holds in its call's URL. It routes requests for a call to its owner without
 * stored state, and is not derived from the ufrag, which crosses the network in clear.
 *
 * Text: one key-id character, then `iv 12 B | ciphertext | tag 16 B` in base64url. The plaintext is
 * `cluster u16 | transceiver u16 | call 16 B | tenant UTF-8`, sealed by AES-128-GCM under a key that
 * HKDF-SHA-256 (RFC 5869) derives from the routing key.
 */
import { createDecipheriv, hkdfSync } from 'node:crypto';
import type { CryptoKey } from 'jose';
import { requireInteger } from './integer.ts';
import type { RoutingKey } from './routing-keys.ts';

/** Longest tenant name, in bytes of UTF-8. */
export const MAX_TENANT_BYTES = 64;

const IV_LENGTH = 12;
const TAG_LENGTH = 16;
const FIXED_LENGTH = 20;
const CALL_HEX = /^[0-9a-f]{32}$/;
const TOKEN = /^([A-Za-z0-9_-])([A-Za-z0-9_-]{64,150})$/;

export interface CallRef {
  readonly cluster: number;
  readonly transceiver: number;
  /** 16 bytes as 32 lower-case hexadecimal digits; the transceiver's own name of the session. */
  readonly call: string;
  readonly tenant: string;
}

/** A fresh random name for a session: 128 bits as 32 hexadecimal digits. */
export function newCall(): string {
  return Buffer.from(crypto.getRandomValues(new Uint8Array(16)).buffer).toString('hex');
}

/** Seals with the first of its keys and opens with all of them. */
export class CallIdCodec {
  readonly #keys: Map<string, Uint8Array<ArrayBuffer>>;
  readonly #sealingKeyId: string;
  #sealingKey?: CryptoKey;

  constructor(keys: readonly [RoutingKey, ...RoutingKey[]]) {
    this.#sealingKeyId = urlSafe(keys[0].id);
    this.#keys = new Map(keys.map(({ id, key }) => [urlSafe(id), deriveKey(key)]));
  }

  /**
   * @param iv 12 bytes, never used twice under one key; random unless a test needs a known answer.
   * @throws RangeError when a field does not fit.
   */
  async seal(ref: CallRef, iv?: Uint8Array): Promise<string> {
    const tenant = Buffer.from(ref.tenant, 'utf8');
    requireInteger('cluster', ref.cluster, 1, 0xffff);
    requireInteger('transceiver', ref.transceiver, 0, 0xffff);
    if (!CALL_HEX.test(ref.call)) throw new RangeError('call must be 32 hexadecimal digits');
    if (tenant.length > MAX_TENANT_BYTES) {
      throw new RangeError(`tenant must be at most ${MAX_TENANT_BYTES} bytes`);
    }
    const plain = Buffer.alloc(FIXED_LENGTH + tenant.length);
    plain.writeUInt16BE(ref.cluster, 0);
    plain.writeUInt16BE(ref.transceiver, 2);
    plain.write(ref.call, 4, 'hex');
    plain.set(tenant, FIXED_LENGTH);
    const sealed = Buffer.alloc(IV_LENGTH + plain.length + TAG_LENGTH);
    if (iv) sealed.set(iv);
    else crypto.getRandomValues(sealed.subarray(0, IV_LENGTH));
    // WebCrypto, for in workerd the cipher of node:crypto makes a whole stream for each seal.
    const algorithm = { name: 'AES-GCM', iv: sealed.subarray(0, IV_LENGTH) };
    const key = await this.#keyToSeal();
    sealed.set(new Uint8Array(await crypto.subtle.encrypt(algorithm, key, plain)), IV_LENGTH);
    return this.#sealingKeyId + sealed.toString('base64url');
  }

  /** Total: undefined for anything that was not sealed with one of the keys. */
  open(token: string): CallRef | undefined {
    const match = TOKEN.exec(token);
    const key = match && this.#keys.get(match[1]!);
    if (!key) return undefined;
    const sealed = Buffer.from(match[2]!, 'base64url');
    if (sealed.length < IV_LENGTH + FIXED_LENGTH + TAG_LENGTH) return undefined;
    if (sealed.toString('base64url') !== match[2]) return undefined;
    const decipher = createDecipheriv('aes-128-gcm', key, sealed.subarray(0, IV_LENGTH), {
      authTagLength: TAG_LENGTH,
    });
    decipher.setAuthTag(sealed.subarray(-TAG_LENGTH));
    const plain = decipher.update(sealed.subarray(IV_LENGTH, -TAG_LENGTH));
    try {
      decipher.final();
    } catch {
      return undefined;
    }
    return {
      cluster: plain.readUInt16BE(0),
      transceiver: plain.readUInt16BE(2),
      call: plain.toString('hex', 4, FIXED_LENGTH),
      tenant: plain.toString('utf8', FIXED_LENGTH),
    };
  }

  /** Kept as a key and not as its promise, which in a Worker would be of one request, and go with it. */
  async #keyToSeal(): Promise<CryptoKey> {
    this.#sealingKey ??= await crypto.subtle.importKey(
      'raw',
      this.#keys.get(this.#sealingKeyId)!,
      'AES-GCM',
      false,
      ['encrypt'],
    );
    return this.#sealingKey;
  }
}

function deriveKey(routingKey: Uint8Array): Uint8Array<ArrayBuffer> {
  return new Uint8Array(hkdfSync('sha256', routingKey, '', 'global-relay call id', 16));
}

/** A key id as it stands in a URL path: `/` and `+` are legal there only with care. */
function urlSafe(keyId: string): string {
  return keyId === '/' ? '_' : keyId === '+' ? '-' : keyId;
}
