/**
 * Hashes for tables that strangers' packets fill: HalfSipHash-1-3 (https://github.com/veorq/SipHash),
 * the kind that Linux keeps for its hash tables. Whoever lacks the key cannot choose what shares a hash.
 */

/** Words of a key. */
export const HASH_KEY_WORDS = 2;

const FINAL_ROUNDS = 3;

/** Words that {@link KeyedHash.bytes} can hash at a time. */
const MAX_WORDS = 8;

export class KeyedHash {
  readonly #key0: number;
  readonly #key1: number;
  readonly #words = new Int32Array(MAX_WORDS);

  /** @param key Secret words at `at`. */
  constructor(key: Int32Array, at: number) {
    this.#key0 = key[at]!;
    this.#key1 = key[at + 1]!;
  }

  /** 32 bits, signed; of the words' bytes in little-endian order. */
  words(words: Int32Array, at: number, count: number): number {
    let v0 = this.#key0;
    let v1 = this.#key1;
    let v2 = v0 ^ 0x6c796765;
    let v3 = v1 ^ 0x74656462;
    // The last block holds the length in bytes.
    const last = count;
    for (let i = 0; i <= last + FINAL_ROUNDS; i++) {
      let block = 0;
      if (i < last) block = words[at + i]!;
      else if (i === last) block = count << 26;
      else if (i === last + 1) v2 ^= 0xff;
      v3 ^= block;
      v0 = (v0 + v1) | 0;
      v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0;
      v0 = (v0 << 16) | (v0 >>> 16);
      v2 = (v2 + v3) | 0;
      v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2;
      v0 = (v0 + v3) | 0;
      v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0;
      v2 = (v2 + v1) | 0;
      v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2;
      v2 = (v2 << 16) | (v2 >>> 16);
      v0 ^= block;
    }
    return v1 ^ v3;
  }

  /** The same of bytes. @param length A multiple of 4, up to 32. */
  bytes(bytes: Uint8Array, at: number, length: number): number {
    const words = this.#words;
    const count = length >> 2;
    for (let i = 0, from = at; i < count; i++, from += 4) {
      words[i] =
        bytes[from]! |
        (bytes[from + 1]! << 8) |
        (bytes[from + 2]! << 16) |
        (bytes[from + 3]! << 24);
    }
    return this.words(words, 0, count);
  }
}
