/** API keys: what a tenant's servers prove themselves with. Only their SHA-256 is kept. */
import { createHash, timingSafeEqual } from 'node:crypto';

/**
 * `sk_TENANT_` and 32 random bytes in base64url. The name says whose hashes to compare with; that much
 * randomness needs no slow hash.
 */
const API_KEY = /^sk_([a-z0-9-]{1,32})_[A-Za-z0-9_-]{43}$/;

/** The tenant that a key says it is of; undefined when it is no key. */
export function tenantOfKey(key: string): string | undefined {
  return API_KEY.exec(key)?.[1];
}

/** SHA-256 of a key in hexadecimal, as a tenant's configuration has it. */
export function hashApiKey(key: string): string {
  return createHash('sha256').update(key).digest('hex');
}

/**
 * Takes as long for a wrong key as for a good one.
 *
 * @param hashes In hexadecimal, 64 digits each.
 */
export function isKeyOf(hashes: readonly string[], key: string): boolean {
  const hash = createHash('sha256').update(key).digest();
  let found = false;
  for (const known of hashes) {
    const same = timingSafeEqual(hash, Buffer.from(known, 'hex'));
    found ||= same;
  }
  return found;
}
