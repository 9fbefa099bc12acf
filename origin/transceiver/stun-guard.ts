/**
 * A check of STUN attributes before werift reads them: it reads all of a message before it knows who
 * sent it, and takes milliseconds over attributes that repeat or have sizes no sender gives them.
 */
import { STUN_HEADER_LENGTH } from '../../protocol/stun.ts';

/** Attributes of the longest message taken; browsers send about eight. */
export const MAX_ATTRIBUTES = 32;

const ATTRIBUTE_HEADER_LENGTH = 4;

/** Address attributes (RFC 8489 §14.1, §14.2, §14.15; RFC 8656 §18.3, §18.5), which are 8 or 20 bytes. */
const ADDRESSES: ReadonlySet<number> = new Set([
  0x0001, 0x0012, 0x0016, 0x0020, 0x802b, 0x802c, 0x8023,
]);
const ADDRESS_SIZES: ReadonlySet<number> = new Set([8, 20]);

/** Total: true when the attributes of this whole STUN message are few, each is there once, and none is absurd. */
export function isSoundStun(packet: Buffer): boolean {
  const seen = new Set<number>();
  for (let at = STUN_HEADER_LENGTH; at + ATTRIBUTE_HEADER_LENGTH <= packet.length;) {
    const type = packet.readUInt16BE(at);
    const size = packet.readUInt16BE(at + 2);
    if (seen.has(type) || seen.size === MAX_ATTRIBUTES) return false;
    if (ADDRESSES.has(type) && !ADDRESS_SIZES.has(size)) return false;
    seen.add(type);
    at += ATTRIBUTE_HEADER_LENGTH + size + (-size & 3);
  }
  return true;
}
