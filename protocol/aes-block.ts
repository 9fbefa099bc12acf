/**
 * AES-128 decryption of one block at a time (FIPS 197 §5.3), in place and without building anything:
 * node:crypto makes a Buffer for each block, which costs twenty times as much in a flood of checks.
 * Its time depends on key and data as far as the processor's cache does.
 */

const BLOCK_WORDS = 4;
const ROUNDS = 10;
const KEY_WORDS = BLOCK_WORDS * (ROUNDS + 1);

const SBOX = new Uint8Array(256);
const INVERSE_SBOX = new Uint8Array(256);
/** InvMixColumns of InvSubBytes, for each byte of a column. */
const TABLE0 = new Int32Array(256);
const TABLE1 = new Int32Array(256);
const TABLE2 = new Int32Array(256);
const TABLE3 = new Int32Array(256);
fillTables();

export class AesBlockDecipher {
  /** Four columns, each a big-endian word. */
  readonly block = new Int32Array(BLOCK_WORDS);
  readonly #keys: Int32Array;

  /** @param key 16 bytes. */
  constructor(key: Uint8Array) {
    this.#keys = decryptionKeys(key);
  }

  /** Decrypts {@link block}. */
  decrypt(): void {
    const { block } = this;
    const keys = this.#keys;
    let a = block[0]! ^ keys[0]!;
    let b = block[1]! ^ keys[1]!;
    let c = block[2]! ^ keys[2]!;
    let d = block[3]! ^ keys[3]!;
    for (let k = BLOCK_WORDS; k < KEY_WORDS - BLOCK_WORDS; k += BLOCK_WORDS) {
      const nextA = mixColumn(a, d, c, b) ^ keys[k]!;
      const nextB = mixColumn(b, a, d, c) ^ keys[k + 1]!;
      const nextC = mixColumn(c, b, a, d) ^ keys[k + 2]!;
      d = mixColumn(d, c, b, a) ^ keys[k + 3]!;
      a = nextA;
      b = nextB;
      c = nextC;
    }
    block[0] = substitute(INVERSE_SBOX, a, d, c, b) ^ keys[KEY_WORDS - 4]!;
    block[1] = substitute(INVERSE_SBOX, b, a, d, c) ^ keys[KEY_WORDS - 3]!;
    block[2] = substitute(INVERSE_SBOX, c, b, a, d) ^ keys[KEY_WORDS - 2]!;
    block[3] = substitute(INVERSE_SBOX, d, c, b, a) ^ keys[KEY_WORDS - 1]!;
  }
}

/** One column of a round; its bytes come from four columns, as InvShiftRows has it. */
function mixColumn(row0: number, row1: number, row2: number, row3: number): number {
  return (
    TABLE0[row0 >>> 24]! ^
    TABLE1[(row1 >>> 16) & 0xff]! ^
    TABLE2[(row2 >>> 8) & 0xff]! ^
    TABLE3[row3 & 0xff]!
  );
}

function substitute(
  box: Uint8Array,
  row0: number,
  row1: number,
  row2: number,
  row3: number,
): number {
  return (
    (box[row0 >>> 24]! << 24) |
    (box[(row1 >>> 16) & 0xff]! << 16) |
    (box[(row2 >>> 8) & 0xff]! << 8) |
    box[row3 & 0xff]!
  );
}

/** The keys of the equivalent inverse cipher, in the order of their use (FIPS 197 §5.2, §5.3.5). */
function decryptionKeys(key: Uint8Array): Int32Array {
  const expanded = new Int32Array(KEY_WORDS);
  const view = new DataView(key.buffer, key.byteOffset, key.byteLength);
  for (let i = 0; i < BLOCK_WORDS; i++) expanded[i] = view.getInt32(i * 4);
  let constant = 1;
  for (let i = BLOCK_WORDS; i < KEY_WORDS; i++) {
    let word = expanded[i - 1]!;
    if (i % BLOCK_WORDS === 0) {
      const turned = (word << 8) | (word >>> 24);
      word = substitute(SBOX, turned, turned, turned, turned) ^ (constant << 24);
      constant = double(constant);
    }
    expanded[i] = expanded[i - BLOCK_WORDS]! ^ word;
  }
  return expanded.map((_, i) => {
    const round = Math.floor(i / BLOCK_WORDS);
    const word = expanded[(ROUNDS - round) * BLOCK_WORDS + (i % BLOCK_WORDS)]!;
    if (round === 0 || round === ROUNDS) return word;
    const substituted = substitute(SBOX, word, word, word, word);
    return mixColumn(substituted, substituted, substituted, substituted);
  });
}

function fillTables(): void {
  // Goes through all nonzero bytes as powers of 3, and beside them through their inverses.
  let power = 1;
  let inverse = 1;
  do {
    power ^= double(power);
    inverse ^= inverse << 1;
    inverse ^= inverse << 2;
    inverse ^= inverse << 4;
    inverse &= 0xff;
    if ((inverse & 0x80) !== 0) inverse ^= 0x09;
    const twice = inverse | (inverse << 8);
    const affine = inverse ^ (twice >> 7) ^ (twice >> 6) ^ (twice >> 5) ^ (twice >> 4);
    SBOX[power] = affine ^ 0x63;
  } while (power !== 1);
  SBOX[0] = 0x63;
  for (let i = 0; i < 256; i++) INVERSE_SBOX[SBOX[i]!] = i;
  for (let i = 0; i < 256; i++) {
    const byte = INVERSE_SBOX[i]!;
    const two = double(byte);
    const four = double(two);
    const eight = double(four);
    const column =
      ((eight ^ four ^ two) << 24) |
      ((eight ^ byte) << 16) |
      ((eight ^ four ^ byte) << 8) |
      (eight ^ two ^ byte);
    TABLE0[i] = column;
    TABLE1[i] = (column >>> 8) | (column << 24);
    TABLE2[i] = (column >>> 16) | (column << 16);
    TABLE3[i] = (column >>> 24) | (column << 8);
  }
}

/** In the field of AES (FIPS 197 §4.2). */
function double(byte: number): number {
  return ((byte << 1) ^ ((byte & 0x80) === 0 ? 0 : 0x1b)) & 0xff;
}
