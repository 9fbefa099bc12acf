/**
 * What tells flows apart: client, proxy and listener, just as a trunk frame's header holds them. They
 * are read into words once per packet, to be hashed, compared and kept without anything being built.
 */
import { ADDRESS_LENGTH } from '../../protocol/address.ts';
import {
  TRUNK_CLIENT,
  TRUNK_HEADER_LENGTH,
  TRUNK_LISTENER,
  trunkClientPort,
} from '../../protocol/trunk.ts';
import type { KeyedHash } from './keyed-hash.ts';

/** The listener, then addresses and ports as the header has them. */
export const KEY_WORDS = 1 + (TRUNK_HEADER_LENGTH - TRUNK_CLIENT) / Int32Array.BYTES_PER_ELEMENT;

/** Words of the client's address within a key. */
const CLIENT = 1;
/** The third word of an IPv4 address mapped into IPv6, which ends in ff ff. */
const MAPPED = 0xff_ff_00_00 | 0;

/** A key, to be read from one packet after another. */
export class FlowKey {
  readonly #keyed: KeyedHash;
  readonly #words = new Int32Array(KEY_WORDS);
  #hash = 0;

  /** @param keyed Of the table that the hash is for. */
  constructor(keyed: KeyedHash) {
    this.#keyed = keyed;
  }

  /** 32 bits. */
  get hash(): number {
    return this.#hash;
  }

  /** Reads the key of the packet whose trunk header is at `at`. */
  read(header: Uint8Array, at: number): void {
    const words = this.#words;
    words[0] = header[at + TRUNK_LISTENER]!;
    let from = at + TRUNK_CLIENT;
    for (let i = 1; i < KEY_WORDS; i++, from += 4) {
      words[i] =
        header[from]! |
        (header[from + 1]! << 8) |
        (header[from + 2]! << 16) |
        (header[from + 3]! << 24);
    }
    this.#hash = this.#keyed.words(words, 0, KEY_WORDS);
  }

  /** Whether the key is that of the flow whose words begin at `place`. */
  isAt(flows: Int32Array, place: number): boolean {
    const words = this.#words;
    for (let i = 0; i < KEY_WORDS; i++) if (flows[place + i] !== words[i]) return false;
    return true;
  }

  /** The {@link sourceHash} of this key's client. */
  get source(): number {
    return sourceHash(this.#words, 0, this.#keyed);
  }

  writeTo(flows: Int32Array, place: number): void {
    for (let i = 0; i < KEY_WORDS; i++) flows[place + i] = this.#words[i]!;
  }
}

/** Names who a client's limits apply to: an IPv4 address, or the /64 that one IPv6 site has. */
export function sourceHash(flows: Int32Array, place: number, keyed: KeyedHash): number {
  const client = place + CLIENT;
  const ipv4 = flows[client] === 0 && flows[client + 1] === 0 && flows[client + 2] === MAPPED;
  return keyed.words(flows, client, ipv4 ? 4 : 2);
}

/** Spreads clients over equals; every relay and every run gives the same number for a client. */
export function spreadOf(header: Uint8Array, at: number): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < ADDRESS_LENGTH; i++) {
    hash = Math.imul(hash ^ header[at + TRUNK_CLIENT + i]!, 0x01000193);
  }
  hash = Math.imul(hash ^ trunkClientPort(header, at), 0x01000193);
  return (hash ^ (hash >>> 15)) >>> 0;
}
