/**
 * Ciphers and a MAC of the OpenSSL inside Node, keyed once and run for every packet. Calls take
 * numbers alone, addresses in one fixed arena: a tenth of what node:crypto costs, and no object made.
 */
import koffi from 'koffi';
import { countNative } from './native-objects.ts';
import { bindOpenSsl, openSsl } from './openssl.ts';

/** Bytes of the largest packet taken, and of what its protection may add. */
export const MAX_PACKET_LENGTH = 2_048;
const MAX_PROTECTION = 32;

export const GCM_TAG_LENGTH = 16;
const IV_LENGTH = 16;
const MAC_LENGTH = 20;
/** OpenSSL writes lengths here that nobody needs. */
const LENGTH_BYTES = 16;

// Numbers from OpenSSL's evp.h.
const EVP_CTRL_AEAD_GET_TAG = 0x10;
const EVP_CTRL_AEAD_SET_TAG = 0x11;

const LENGTH_AT = IV_LENGTH;
const MAC_AT = LENGTH_AT + LENGTH_BYTES;
const PACKET_AT = MAC_AT + MAC_LENGTH;
const arena = Buffer.from(new ArrayBuffer(PACKET_AT + MAX_PACKET_LENGTH + MAX_PROTECTION));

/** The initialization vector of the next call: 12 bytes of it for GCM, 16 for counter mode. */
export const iv: Buffer = arena.subarray(0, IV_LENGTH);
/** What HmacSha1 computed last. */
export const mac: Buffer = arena.subarray(MAC_AT, PACKET_AT);
/** The packet that calls work on, in place; their offsets are into it. */
export const work: Buffer = arena.subarray(PACKET_AT);

const base = Number(koffi.address(arena));
const IV = base;
const LENGTH = base + LENGTH_AT;
const MAC = base + MAC_AT;
const WORK = base + PACKET_AT;

const NULL = 0;
const KEEP_DIRECTION = -1;

type Native = (...numbers: number[]) => number;

const evp = bindOpenSsl((library) => {
  const of = (signature: string): Native => library.func(signature);
  return {
    newCipher: of('uintptr_t EVP_CIPHER_CTX_new()'),
    freeCipher: of('void EVP_CIPHER_CTX_free(uintptr_t)'),
    gcm: of('uintptr_t EVP_aes_128_gcm()'),
    ctr: of('uintptr_t EVP_aes_128_ctr()'),
    init: of('int EVP_CipherInit_ex(uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, int)'),
    update: of('int EVP_CipherUpdate(uintptr_t, uintptr_t, uintptr_t, uintptr_t, int)'),
    final: of('int EVP_CipherFinal_ex(uintptr_t, uintptr_t, uintptr_t)'),
    control: of('int EVP_CIPHER_CTX_ctrl(uintptr_t, int, int, uintptr_t)'),
    newHmac: of('uintptr_t HMAC_CTX_new()'),
    freeHmac: of('void HMAC_CTX_free(uintptr_t)'),
    sha1: of('uintptr_t EVP_sha1()'),
    initHmac: of('int HMAC_Init_ex(uintptr_t, uintptr_t, int, uintptr_t, uintptr_t)'),
    updateHmac: of('int HMAC_Update(uintptr_t, uintptr_t, size_t)'),
    finalHmac: of('int HMAC_Final(uintptr_t, uintptr_t, uintptr_t)'),
  };
});

function mustWork(done: boolean): void {
  if (!done) throw new Error(`OpenSSL cannot key a cipher: ${openSsl().takeErrors()}`);
}

/** Puts a key where native code can read it while `use` runs. */
function withKey(key: Uint8Array, use: (address: number) => number): void {
  work.set(key);
  const result = use(WORK);
  work.fill(0, 0, key.length);
  mustWork(result === 1);
}

function newCipher(cipher: Native, key: Uint8Array, seals: boolean): number {
  const context = evp.newCipher();
  mustWork(context !== NULL);
  countNative('srtp-context', 1);
  withKey(key, (at) => evp.init(context, cipher(), NULL, at, NULL, seals ? 1 : 0));
  return context;
}

function freeCipher(context: number): void {
  evp.freeCipher(context);
  countNative('srtp-context', -1);
}

/** AES-128-GCM with one key and one direction; not to be used after free(). */
export class AesGcm {
  readonly #context: number;

  constructor(key: Uint8Array, direction: 'seal' | 'open') {
    this.#context = newCipher(evp.gcm, key, direction === 'seal');
  }

  /** Starts a packet with the vector in `iv`. */
  start(): void {
    evp.init(this.#context, NULL, NULL, NULL, IV, KEEP_DIRECTION);
  }

  /** Binds bytes that stay in clear. */
  bind(from: number, length: number): void {
    evp.update(this.#context, NULL, LENGTH, WORK + from, length);
  }

  /** Encrypts in place and writes the tag behind. */
  seal(from: number, length: number): void {
    evp.update(this.#context, WORK + from, LENGTH, WORK + from, length);
    evp.final(this.#context, WORK + from + length, LENGTH);
    evp.control(this.#context, EVP_CTRL_AEAD_GET_TAG, GCM_TAG_LENGTH, WORK + from + length);
  }

  /** Decrypts in place; the tag stands behind. False when it is wrong, and then the bytes mean nothing. */
  open(from: number, length: number): boolean {
    evp.control(this.#context, EVP_CTRL_AEAD_SET_TAG, GCM_TAG_LENGTH, WORK + from + length);
    evp.update(this.#context, WORK + from, LENGTH, WORK + from, length);
    // At the end GCM writes nothing: it only compares.
    return evp.final(this.#context, WORK + from + length, LENGTH) === 1;
  }

  free(): void {
    freeCipher(this.#context);
  }
}

/** AES-128 in counter mode with one key; not to be used after free(). */
export class AesCounter {
  readonly #context: number;

  constructor(key: Uint8Array) {
    this.#context = newCipher(evp.ctr, key, true);
  }

  /** Encrypts or decrypts in place, from the counter in `iv`. */
  apply(from: number, length: number): void {
    evp.init(this.#context, NULL, NULL, NULL, IV, KEEP_DIRECTION);
    evp.update(this.#context, WORK + from, LENGTH, WORK + from, length);
  }

  free(): void {
    freeCipher(this.#context);
  }
}

/** HMAC-SHA1 with one key; not to be used after free(). */
export class HmacSha1 {
  readonly #context: number;

  constructor(key: Uint8Array) {
    const context = evp.newHmac();
    mustWork(context !== NULL);
    countNative('srtp-context', 1);
    this.#context = context;
    withKey(key, (at) => evp.initHmac(context, at, key.length, evp.sha1(), NULL));
  }

  /** Leaves the code of the first `length` bytes in `mac`. */
  compute(length: number): void {
    evp.initHmac(this.#context, NULL, 0, NULL, NULL);
    evp.updateHmac(this.#context, WORK, length);
    evp.finalHmac(this.#context, MAC, LENGTH);
  }

  free(): void {
    evp.freeHmac(this.#context);
    countNative('srtp-context', -1);
  }
}
