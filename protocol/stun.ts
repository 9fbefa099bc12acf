/**
 * A reader for what a relay needs of a STUN message (RFC 8489 §5, §14.3): type, transaction id and
 * USERNAME. It verifies nothing; MESSAGE-INTEGRITY is the transceiver's to check.
 */

export const STUN_HEADER_LENGTH = 20;
export const STUN_MAGIC_COOKIE = 0x2112a442;
export const STUN_BINDING = 0x001;

/** Types of Binding messages, with their class. */
export const BINDING_REQUEST = 0x0001;
export const BINDING_SUCCESS = 0x0101;

/** Within the header. */
export const TRANSACTION_ID_OFFSET = 8;
export const TRANSACTION_ID_LENGTH = STUN_HEADER_LENGTH - TRANSACTION_ID_OFFSET;

/** Longest USERNAME accepted, in bytes: RFC 8489 §14.3 sends at most 508 and asks to accept 763. */
export const MAX_USERNAME_LENGTH = 763;

const USERNAME = 0x0006;
const MESSAGE_INTEGRITY = 0x0008;
const MESSAGE_INTEGRITY_SHA256 = 0x001c;
const ATTRIBUTE_HEADER_LENGTH = 4;

export type StunClass = 'request' | 'indication' | 'success' | 'error';
const CLASSES: readonly StunClass[] = ['request', 'indication', 'success', 'error'];

export interface StunMessage {
  readonly class: StunClass;
  /** 12 bits; {@link STUN_BINDING} for a check. GOOG_PING (type 0x0200) reads as method 0x080. */
  readonly method: number;
  /** 12 bytes, a view into the packet. */
  readonly transactionId: Uint8Array;
  /** The bytes of USERNAME without padding, a view into the packet. */
  readonly username: Uint8Array | undefined;
}

/**
 * What {@link readStun} gives, as offsets into the packet, to be read from one packet after another
 * without building anything.
 */
export class StunReader {
  /** Class and method as the header has them, 14 bits. */
  type = 0;
  transactionId = 0;
  /** Where the bytes of USERNAME begin and end, without padding; both -1 when there is none. */
  username = -1;
  usernameEnd = -1;

  /**
   * Total: false for anything that is not one whole STUN message; never throws, never reads past
   * `end`. Unknown attributes are opaque, whatever their size. Attributes after MESSAGE-INTEGRITY are
   * ignored (RFC 8489 §14.5), since nothing authenticates them.
   */
  read(packet: Uint8Array, start: number, end: number): boolean {
    if (!(start >= 0 && end <= packet.length && end - start >= STUN_HEADER_LENGTH)) return false;
    if (packet[start]! > 0x3f) return false;
    const length = uint16(packet, start + 2);
    const cookie = (uint16(packet, start + 4) << 16) | uint16(packet, start + 6);
    if (cookie !== STUN_MAGIC_COOKIE) return false;
    if (length % 4 !== 0 || STUN_HEADER_LENGTH + length !== end - start) return false;

    this.username = -1;
    this.usernameEnd = -1;
    for (let at = start + STUN_HEADER_LENGTH; at < end;) {
      const type = uint16(packet, at);
      const size = uint16(packet, at + 2);
      const value = at + ATTRIBUTE_HEADER_LENGTH;
      if (value + size > end) return false;
      if (type === MESSAGE_INTEGRITY || type === MESSAGE_INTEGRITY_SHA256) break;
      if (type === USERNAME && this.username < 0) {
        if (size > MAX_USERNAME_LENGTH) return false;
        this.username = value;
        this.usernameEnd = value + size;
      }
      at = value + size + (-size & 3);
    }
    this.type = uint16(packet, start);
    this.transactionId = start + TRANSACTION_ID_OFFSET;
    return true;
  }
}

const reader = new StunReader();

/** As {@link StunReader} reads, as an object; undefined where that says false. */
export function readStun(
  packet: Uint8Array,
  start = 0,
  end = packet.length,
): StunMessage | undefined {
  if (!reader.read(packet, start, end)) return undefined;
  const { type, transactionId, username, usernameEnd } = reader;
  return {
    class: CLASSES[((type >> 7) & 2) | ((type >> 4) & 1)]!,
    method: ((type >> 2) & 0xf80) | ((type >> 1) & 0x070) | (type & 0x00f),
    transactionId: packet.subarray(transactionId, transactionId + TRANSACTION_ID_LENGTH),
    username: username < 0 ? undefined : packet.subarray(username, usernameEnd),
  };
}

function uint16(bytes: Uint8Array, at: number): number {
  return (bytes[at]! << 8) | bytes[at + 1]!;
}
