/**
 * A reader for what a relay needs of a STUN message (RFC 8489 §5, §14.3): type, transaction id and
 * USERNAME. It verifies nothing; MESSAGE-INTEGRITY is the transceiver's to check.
 */

export const STUN_HEADER_LENGTH = 20;
export const STUN_MAGIC_COOKIE = 0x2112a442;
export const STUN_BINDING = 0x001;

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
 * Total: undefined for anything that is not one whole STUN message; never throws, never reads past
 * `end`. Unknown attributes are opaque, whatever their size. Attributes after MESSAGE-INTEGRITY are
 * ignored (RFC 8489 §14.5), since nothing authenticates them.
 */
export function readStun(
  packet: Uint8Array,
  start = 0,
  end = packet.length,
): StunMessage | undefined {
  if (start < 0 || end > packet.length || end - start < STUN_HEADER_LENGTH) return undefined;
  if (packet[start]! > 0x3f) return undefined;
  const view = new DataView(packet.buffer, packet.byteOffset + start, end - start);
  const length = view.getUint16(2);
  if (view.getUint32(4) !== STUN_MAGIC_COOKIE) return undefined;
  if (length % 4 !== 0 || STUN_HEADER_LENGTH + length !== end - start) return undefined;

  let username: Uint8Array | undefined;
  for (let at = STUN_HEADER_LENGTH; at < view.byteLength;) {
    const type = view.getUint16(at);
    const size = view.getUint16(at + 2);
    const value = at + ATTRIBUTE_HEADER_LENGTH;
    if (value + size > view.byteLength) return undefined;
    if (type === MESSAGE_INTEGRITY || type === MESSAGE_INTEGRITY_SHA256) break;
    if (type === USERNAME && !username) {
      if (size > MAX_USERNAME_LENGTH) return undefined;
      username = packet.subarray(start + value, start + value + size);
    }
    at = value + size + (-size & 3);
  }

  const type = view.getUint16(0);
  return {
    class: CLASSES[((type >> 7) & 2) | ((type >> 4) & 1)]!,
    method: ((type >> 2) & 0xf80) | ((type >> 1) & 0x070) | (type & 0x00f),
    transactionId: packet.subarray(start + 8, start + STUN_HEADER_LENGTH),
    username,
  };
}
