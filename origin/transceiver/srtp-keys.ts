/** Session keys out of the master keys of a handshake (RFC 3711 §4.3, RFC 7714 §11). */
import { createCipheriv } from 'node:crypto';
import type { SessionKeys } from './srtp-cipher.ts';

const KEY_LENGTH = 16;
const AUTHENTICATION_LENGTH = 20;
const COUNTER_LENGTH = 16;
/** Where the label stands in the counter that it is XORed into (RFC 3711 §4.3.1). */
const LABEL_AT = 7;

/** The first label of each protocol; its authentication key and its salt follow (RFC 3711 §4.3.2). */
const LABELS = { rtp: 0, rtcp: 3 } as const;

/** @param salt The master salt, as long as the salt that comes out: 14 bytes, 12 for GCM. */
export function sessionKeys(
  key: Uint8Array,
  salt: Uint8Array,
  protocol: keyof typeof LABELS,
): SessionKeys {
  const label = LABELS[protocol];
  const derive = (at: number, length: number) => {
    const counter = Buffer.alloc(COUNTER_LENGTH);
    counter.set(salt);
    counter[LABEL_AT]! ^= label + at;
    return createCipheriv('aes-128-ctr', key, counter).update(Buffer.alloc(length));
  };
  return {
    key: derive(0, KEY_LENGTH),
    authentication: derive(1, AUTHENTICATION_LENGTH),
    salt: derive(2, salt.length),
  };
}
