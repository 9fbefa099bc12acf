/** Datagrams of clients for fuzzing: all that a relay may meet, right, nearly right, and wrong. */
import { STUN_HEADER_LENGTH, STUN_MAGIC_COOKIE } from '../../../protocol/stun.ts';
import { TRUNK_MAGIC } from '../../../protocol/trunk.ts';
import { UFRAG_LENGTH } from '../../../protocol/ufrag.ts';
import { MAX_CLIENT_PACKET } from '../packet-batch.ts';
import { BINDING_REQUEST, BINDING_SUCCESS, GOOG_PING } from './packets.ts';
import type { Random } from './random.ts';

const USERNAME = 0x0006;

/** Binding of all four classes (RFC 8489 §5), GOOG_PING and its response, Allocate, and no method at all. */
const TYPES = [
  BINDING_REQUEST,
  0x0011,
  BINDING_SUCCESS,
  0x0111,
  GOOG_PING,
  0x0300,
  0x0003,
  0x3fff,
] as const;

/**
 * USERNAME, MESSAGE-INTEGRITY of both kinds, PRIORITY, FINGERPRINT, what nobody knows, and what clients
 * put DTLS into.
 */
const ATTRIBUTES = [USERNAME, 0x0008, 0x001c, 0x0024, 0x8028, 0xc0de, 0xc070] as const;

/** First bytes of RFC 7983: ZRTP, DTLS, TURN channels, QUIC, RTP and RTCP. */
const FIRST_BYTES = [
  16,
  20,
  22,
  23,
  63,
  64,
  79,
  127,
  128,
  144,
  191,
  192,
  TRUNK_MAGIC,
  255,
] as const;

/** Shorter than any STUN message can be told from other packets. */
const TINY = 12;

export class FuzzClient {
  readonly #random: Random;
  readonly #tokens: readonly Buffer[];
  readonly #seeds: readonly Buffer[];

  /**
   * @param tokens Whole server ufrags, of all kinds that are good or bad.
   * @param seeds Packets to start from, of 1 to {@link MAX_CLIENT_PACKET} bytes.
   */
  constructor(random: Random, tokens: readonly string[], seeds: readonly Buffer[]) {
    this.#random = random;
    this.#tokens = tokens.map((token) => Buffer.from(token));
    this.#seeds = seeds;
  }

  /**
   * Writes one to `out` at `at`, where {@link MAX_CLIENT_PACKET} bytes are free.
   *
   * @returns Where it ends.
   */
  write(out: Buffer, at: number): number {
    const random = this.#random;
    switch (random.below(12)) {
      case 10:
        return this.#seed(out, at);
      case 11:
        return this.#bend(out, at, this.#seed(out, at));
      case 0:
        return this.#noise(out, at, random.below(TINY));
      case 1:
        return this.#noise(out, at, random.skewed(MAX_CLIENT_PACKET + 1));
      case 2:
      case 3:
        return this.#media(out, at);
      case 4:
      case 5:
        return this.#bend(out, at, this.#stun(out, at));
      case 6:
        return this.#bend(out, at, this.#check(out, at));
      default:
        return this.#check(out, at);
    }
  }

  /** A success response. @param id 12 bytes at `idAt`. */
  writeSuccess(out: Buffer, at: number, id: Buffer, idAt: number): number {
    this.#header(out, at, BINDING_SUCCESS);
    id.copy(out, at + 8, idAt, idAt + 12);
    return this.#endStun(out, at, at + STUN_HEADER_LENGTH);
  }

  #noise(out: Buffer, at: number, length: number): number {
    this.#random.fill(out, at, at + length);
    return at + length;
  }

  #seed(out: Buffer, at: number): number {
    return at + this.#random.pick(this.#seeds).copy(out, at);
  }

  #media(out: Buffer, at: number): number {
    const end = this.#noise(out, at, 1 + this.#random.skewed(1_300));
    out[at] = this.#random.pick(FIRST_BYTES);
    return end;
  }

  #stun(out: Buffer, at: number): number {
    const random = this.#random;
    this.#header(out, at, random.pick(TYPES));
    let end = at + STUN_HEADER_LENGTH;
    for (let left = random.below(5); left > 0; left--) {
      const type = random.pick(ATTRIBUTES);
      if (type === USERNAME && random.once(2)) end = this.#username(out, end);
      else end = this.#attribute(out, end, type, random.skewed(random.once(8) ? 400 : 40));
    }
    return this.#endStun(out, at, end);
  }

  #check(out: Buffer, at: number): number {
    const random = this.#random;
    this.#header(out, at, BINDING_REQUEST);
    let end = at + STUN_HEADER_LENGTH;
    if (random.once(4)) end = this.#attribute(out, end, 0xc070, random.below(1_100));
    end = this.#username(out, end);
    if (random.once(2)) end = this.#attribute(out, end, 0x0008, 20);
    return this.#endStun(out, at, end);
  }

  #header(out: Buffer, at: number, type: number): void {
    out.writeUInt16BE(type, at);
    out.writeUInt32BE(STUN_MAGIC_COOKIE, at + 4);
    this.#random.fill(out, at + 8, at + STUN_HEADER_LENGTH);
  }

  #endStun(out: Buffer, at: number, end: number): number {
    out.writeUInt16BE(end - at - STUN_HEADER_LENGTH, at + 2);
    return end;
  }

  /** A token and the client's own ufrag; one of them in eight is a little wrong. */
  #username(out: Buffer, at: number): number {
    const random = this.#random;
    const token = random.pick(this.#tokens);
    const ownLength = 1 + random.skewed(64);
    const value = at + 4;
    token.copy(out, value);
    out[value + token.length] = 0x3a;
    out.fill(0x61, value + token.length + 1, value + token.length + 1 + ownLength);
    if (random.once(8)) out[value + random.below(UFRAG_LENGTH + 1)] = random.below(128);
    const length = random.once(32) ? random.below(UFRAG_LENGTH + 2) : token.length + 1 + ownLength;
    return this.#attributeEnd(out, at, USERNAME, length);
  }

  #attribute(out: Buffer, at: number, type: number, length: number): number {
    this.#random.fill(out, at + 4, at + 4 + length);
    return this.#attributeEnd(out, at, type, length);
  }

  #attributeEnd(out: Buffer, at: number, type: number, length: number): number {
    out.writeUInt16BE(type, at);
    out.writeUInt16BE(length, at + 2);
    return at + 4 + length + (-length & 3);
  }

  /** Changes a message a little: close to right is where parsers break. */
  #bend(out: Buffer, at: number, end: number): number {
    const random = this.#random;
    const length = end - at;
    switch (random.below(6)) {
      case 0:
        return at + random.below(length);
      case 1:
        return Math.min(end + random.below(16), at + MAX_CLIENT_PACKET);
      case 2:
        out.writeUInt16BE(
          random.once(2) ? length + random.below(64) : random.below(65_536),
          at + 2,
        );
        return end;
      case 3:
        if (length >= STUN_HEADER_LENGTH + 4) {
          out.writeUInt16BE(random.skewed(65_536), at + STUN_HEADER_LENGTH + 2);
        }
        return end;
      default:
        for (let left = 1 + random.below(4); left > 0; left--) {
          out[at + random.below(length)] = random.below(256);
        }
        return end;
    }
  }
}
