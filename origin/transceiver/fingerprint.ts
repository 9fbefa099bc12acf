/** Certificate fingerprints (RFC 8122): which hashes count, and what they look like. */

/** Hashes good enough to prove a certificate, by their names in SDP (RFC 8122 §5). */
export const DIGESTS = {
  'sha-256': { name: 'EVP_sha256', length: 32 },
  'sha-384': { name: 'EVP_sha384', length: 48 },
  'sha-512': { name: 'EVP_sha512', length: 64 },
} as const;
export type FingerprintHash = keyof typeof DIGESTS;

export const isFingerprintHash = (name: string): name is FingerprintHash =>
  Object.hasOwn(DIGESTS, name);

/** Bytes of a hash's output. */
export const fingerprintLength = (hash: FingerprintHash): number => DIGESTS[hash].length;

export interface Fingerprint {
  readonly hash: FingerprintHash;
  readonly digest: Uint8Array;
}
