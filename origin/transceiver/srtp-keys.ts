/** Session keys out of the master keys of a handshake (RFC 3711 §4.3, RFC 7714 §11). */
import { AesCounter, iv, work } from './evp.ts';
import type { SessionKeys } from './srtp-cipher.ts';

const KEY_LENGTH = 16;
const AUTHENTICATION_LENGTH = 20;
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
  const master = new AesCounter(key);
  const derive = (at: number, length: number) => {
    iv.fill(0);
    iv.set(salt);
    iv[LABEL_AT]! ^= label + at;
    work.fill(0, 0, length);
    master.apply(0, length);
    const derived = Buffer.from(work.subarray(0, length));
    work.fill(0, 0, length);
    return derived;
  };
  const keys = {
    key: derive(0, KEY_LENGTH),
    authentication: derive(1, AUTHENTICATION_LENGTH),
    salt: derive(2, salt.length),
  };
  master.free();
  return keys;
}
