/** What an SRTP protection profile does to one packet: RFC 3711 for AES-CM, RFC 7714 for AES-GCM. */
import type { SrtpKeys } from './dtls.ts';
import { AesCounter, AesGcm, GCM_TAG_LENGTH, HmacSha1, iv, mac, work } from './evp.ts';

/** Bytes of a packet's SRTCP index with its E flag (RFC 3711 §3.4). */
export const SRTCP_INDEX_LENGTH = 4;
/** Bytes of an RTCP packet that stay in clear: the first header and the SSRC. */
export const RTCP_CLEAR_LENGTH = 8;

/** The flag that says an SRTCP packet is encrypted. */
const E_FLAG = 0x8000_0000;
const SHA1_TAG_LENGTH = 10;
const ROLLOVER_LENGTH = 4;
const SSRC_LENGTH = 4;
const ROUND = 0x1_00_00;

/** Keys of one direction and one of the two protocols, derived from the master key. */
export interface SessionKeys {
  readonly key: Uint8Array;
  readonly salt: Uint8Array;
  /** Of HMAC-SHA1; GCM has no use for it. */
  readonly authentication: Uint8Array;
}

/**
 * Works in place on the packet at the start of `work`, one direction with one key. What opens returns
 * the length of the plain packet, -1 when it is not authentic.
 */
export interface PacketCipher {
  /** Bytes that protection adds to RTP, and to RTCP without its index. */
  readonly tagLength: number;
  /** @param index 48 bits: rollover counter and sequence number (RFC 3711 §3.3.1). */
  sealRtp(headerLength: number, length: number, index: number): number;
  openRtp(headerLength: number, length: number, index: number): number;
  /** @param index 31 bits. */
  sealRtcp(length: number, index: number): number;
  openRtcp(length: number, index: number): number;
  free(): void;
}

export function newPacketCipher(
  profile: SrtpKeys['profile'],
  keys: SessionKeys,
  direction: 'seal' | 'open',
): PacketCipher {
  return profile === 7 ? new GcmPackets(keys, direction) : new CounterPackets(keys);
}

/** Where the index of an SRTCP packet stands: at its end in GCM, before the tag else. */
export function srtcpIndexAt(profile: SrtpKeys['profile'], length: number): number {
  return length - SRTCP_INDEX_LENGTH - (profile === 7 ? 0 : SHA1_TAG_LENGTH);
}

class GcmPackets implements PacketCipher {
  readonly tagLength = GCM_TAG_LENGTH;
  readonly #gcm: AesGcm;
  readonly #salt: Uint8Array;

  constructor({ key, salt }: SessionKeys, direction: 'seal' | 'open') {
    this.#gcm = new AesGcm(key, direction);
    this.#salt = salt;
  }

  sealRtp(headerLength: number, length: number, index: number): number {
    this.#startRtp(headerLength, index);
    this.#gcm.seal(headerLength, length - headerLength);
    return length + GCM_TAG_LENGTH;
  }

  openRtp(headerLength: number, length: number, index: number): number {
    const plain = length - GCM_TAG_LENGTH;
    this.#startRtp(headerLength, index);
    return this.#gcm.open(headerLength, plain - headerLength) ? plain : -1;
  }

  sealRtcp(length: number, index: number): number {
    work.writeUInt32BE(E_FLAG + index, length + GCM_TAG_LENGTH);
    this.#startRtcp(index, length + GCM_TAG_LENGTH);
    this.#gcm.seal(RTCP_CLEAR_LENGTH, length - RTCP_CLEAR_LENGTH);
    return length + GCM_TAG_LENGTH + SRTCP_INDEX_LENGTH;
  }

  openRtcp(length: number, index: number): number {
    const sealed = length - SRTCP_INDEX_LENGTH;
    const plain = sealed - GCM_TAG_LENGTH;
    this.#startRtcp(index, sealed);
    return this.#gcm.open(RTCP_CLEAR_LENGTH, plain - RTCP_CLEAR_LENGTH) ? plain : -1;
  }

  free(): void {
    this.#gcm.free();
  }

  /** RFC 7714 §8.1: two zero bytes, SSRC, rollover counter, sequence number; salted. */
  #startRtp(headerLength: number, index: number): void {
    iv[0] = iv[1] = 0;
    for (let i = 0; i < SSRC_LENGTH; i++) iv[2 + i] = work[8 + i]!;
    iv.writeUIntBE(index, 6, 6);
    this.#start();
    this.#gcm.bind(0, headerLength);
  }

  /** RFC 7714 §9.1: two zero bytes, SSRC, two zero bytes, index; salted. */
  #startRtcp(index: number, indexAt: number): void {
    iv.fill(0, 0, 8);
    work.copy(iv, 2, 4, 8);
    iv.writeUInt32BE(index, 8);
    this.#start();
    this.#gcm.bind(0, RTCP_CLEAR_LENGTH);
    this.#gcm.bind(indexAt, SRTCP_INDEX_LENGTH);
  }

  #start(): void {
    for (let i = 0; i < this.#salt.length; i++) iv[i]! ^= this.#salt[i]!;
    this.#gcm.start();
  }
}

class CounterPackets implements PacketCipher {
  readonly tagLength = SHA1_TAG_LENGTH;
  readonly #aes: AesCounter;
  readonly #hmac: HmacSha1;
  readonly #salt: Uint8Array;

  constructor({ key, salt, authentication }: SessionKeys) {
    this.#aes = new AesCounter(key);
    this.#hmac = new HmacSha1(authentication);
    this.#salt = salt;
  }

  sealRtp(headerLength: number, length: number, index: number): number {
    this.#apply(8, headerLength, length, index);
    this.#authenticateRtp(length, index);
    mac.copy(work, length, 0, SHA1_TAG_LENGTH);
    return length + SHA1_TAG_LENGTH;
  }

  openRtp(headerLength: number, length: number, index: number): number {
    const plain = length - SHA1_TAG_LENGTH;
    // The rollover counter is authenticated in the place of the tag (RFC 3711 §4.2).
    work.copy(tag, 0, plain, length);
    this.#authenticateRtp(plain, index);
    if (!isTagRight()) return -1;
    this.#apply(8, headerLength, plain, index);
    return plain;
  }

  sealRtcp(length: number, index: number): number {
    this.#apply(4, RTCP_CLEAR_LENGTH, length, index);
    work.writeUInt32BE(E_FLAG + index, length);
    const covered = length + SRTCP_INDEX_LENGTH;
    this.#hmac.compute(covered);
    mac.copy(work, covered, 0, SHA1_TAG_LENGTH);
    return covered + SHA1_TAG_LENGTH;
  }

  openRtcp(length: number, index: number): number {
    const covered = length - SHA1_TAG_LENGTH;
    work.copy(tag, 0, covered, length);
    this.#hmac.compute(covered);
    if (!isTagRight()) return -1;
    const plain = covered - SRTCP_INDEX_LENGTH;
    this.#apply(4, RTCP_CLEAR_LENGTH, plain, index);
    return plain;
  }

  free(): void {
    this.#aes.free();
    this.#hmac.free();
  }

  #authenticateRtp(length: number, index: number): void {
    work.writeUInt32BE(Math.floor(index / ROUND), length);
    this.#hmac.compute(length + ROLLOVER_LENGTH);
  }

  /** RFC 3711 §4.1.1: the counter begins with salt, SSRC and index, XORed, and two zero bytes. */
  #apply(ssrcAt: number, from: number, to: number, index: number): void {
    iv.fill(0, 0, 4);
    work.copy(iv, 4, ssrcAt, ssrcAt + 4);
    iv.writeUIntBE(index, 8, 6);
    iv.fill(0, 14);
    for (let i = 0; i < this.#salt.length; i++) iv[i]! ^= this.#salt[i]!;
    this.#aes.apply(from, to - from);
  }
}

/** The tag of the packet at hand. */
const tag = Buffer.alloc(SHA1_TAG_LENGTH);

/** Takes equally long wherever the difference is. */
function isTagRight(): boolean {
  let difference = 0;
  for (let i = 0; i < SHA1_TAG_LENGTH; i++) difference |= tag[i]! ^ mac[i]!;
  return difference === 0;
}
