/**
 * What tells flows apart: client, proxy and listener, just as a trunk frame's header holds them. A key
 * is therefore a place in a slab where a header stands; nothing is built to look a flow up.
 */
import { randomBytes } from 'node:crypto';
import { ADDRESS_LENGTH, isMappedIPv4 } from '../../protocol/address.ts';
import {
  TRUNK_CLIENT,
  TRUNK_HEADER_LENGTH,
  TRUNK_LISTENER,
  trunkClientPort,
} from '../../protocol/trunk.ts';
import { sameBytes } from './bytes.ts';

const ADDRESSES_AND_PORTS = TRUNK_HEADER_LENGTH - TRUNK_CLIENT;

/** Differs between processes, so that nobody can choose addresses that share a bucket. */
const SEED = randomBytes(4).readInt32LE();

export function sameFlow(a: Uint8Array, aAt: number, b: Uint8Array, bAt: number): boolean {
  return (
    a[aAt + TRUNK_LISTENER] === b[bAt + TRUNK_LISTENER] &&
    sameBytes(a, aAt + TRUNK_CLIENT, b, bAt + TRUNK_CLIENT, ADDRESSES_AND_PORTS)
  );
}

/** 32 bits, for a table in this process. */
export function hashFlow(header: Uint8Array, at: number): number {
  let hash = SEED ^ header[at + TRUNK_LISTENER]!;
  for (let i = at + TRUNK_CLIENT; i < at + TRUNK_HEADER_LENGTH; i += 4) {
    const word =
      header[i]! | (header[i + 1]! << 8) | (header[i + 2]! << 16) | (header[i + 3]! << 24);
    hash = Math.imul(hash ^ word, 0x9e3779b1);
    hash ^= hash >>> 15;
  }
  return hash >>> 0;
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

/** Names who a client's limits apply to: an IPv4 address, or the /64 that one IPv6 site has. */
export function sourceOf(header: Uint8Array, at: number): string {
  const length = isMappedIPv4(header, at + TRUNK_CLIENT) ? 16 : 8;
  return Buffer.from(header.buffer, header.byteOffset + at + TRUNK_CLIENT, length).toString(
    'latin1',
  );
}
