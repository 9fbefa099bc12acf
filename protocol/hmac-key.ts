/** Keys of HMAC-SHA-256 as WebCrypto wants them, made ready once and not for every signature. */
import type { CryptoKey } from 'jose';

const ready = new WeakMap<Uint8Array, CryptoKey>();

/** @param key At least 32 bytes, which do not change. */
export async function hmacKey(key: Uint8Array): Promise<CryptoKey> {
  const known = ready.get(key);
  if (known) return known;
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const made = await crypto.subtle.importKey('raw', key.slice(), algorithm, false, [
    'sign',
    'verify',
  ]);
  // The key and not its promise: in a Worker that would be of one request, and go with it.
  ready.set(key, made);
  return made;
}
