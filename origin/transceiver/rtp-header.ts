/** The header of an RTP packet (RFC 3550 §5.1): read as any peer may send it, written as we do. */

export const RTP_HEADER_LENGTH = 12;

/** Bytes of header extensions taken; a browser's audio has about 30. */
export const MAX_EXTENSION_LENGTH = 256;

const VERSION = 2;
const PADDING_BIT = 0x20;
const EXTENSION_BIT = 0x10;
const CSRC_COUNT = 0x0f;
const MARKER_BIT = 0x80;
const EXTENSION_HEADER_LENGTH = 4;
const WORD = 4;

export interface RtpFields {
  readonly payloadType: number;
  /** 16 bits. */
  readonly sequenceNumber: number;
  /** 32 bits, in the ticks of the codec's clock. */
  readonly timestamp: number;
  /** 32 bits. */
  readonly ssrc: number;
  readonly marker: boolean;
}

export interface RtpHeader extends RtpFields {
  /** Bytes before the payload, CSRCs and extensions included. */
  readonly length: number;
  /** True when the last byte of the payload says how many at its end are padding. */
  readonly padded: boolean;
}

/** Total. Undefined when the header does not fit the packet. */
export function readRtpHeader(packet: Buffer): RtpHeader | undefined {
  if (packet.length < RTP_HEADER_LENGTH || packet[0]! >> 6 !== VERSION) return undefined;
  const length = headerLength(packet);
  if (length > packet.length) return undefined;
  return {
    payloadType: packet[1]! & ~MARKER_BIT,
    sequenceNumber: packet.readUInt16BE(2),
    timestamp: packet.readUInt32BE(4),
    ssrc: packet.readUInt32BE(8),
    marker: (packet[1]! & MARKER_BIT) !== 0,
    length,
    padded: (packet[0]! & PADDING_BIT) !== 0,
  };
}

/** Infinity for a header that no honest peer sends. */
function headerLength(packet: Buffer): number {
  const extensionAt = RTP_HEADER_LENGTH + WORD * (packet[0]! & CSRC_COUNT);
  if ((packet[0]! & EXTENSION_BIT) === 0) return extensionAt;
  const elementsAt = extensionAt + EXTENSION_HEADER_LENGTH;
  if (elementsAt > packet.length) return Infinity;
  const length = WORD * packet.readUInt16BE(extensionAt + 2);
  return length > MAX_EXTENSION_LENGTH ? Infinity : elementsAt + length;
}

/** Writes a header without CSRCs and extensions to the start of `into`. */
export function writeRtpHeader(into: Buffer, fields: RtpFields): void {
  into[0] = VERSION << 6;
  into[1] = (fields.marker ? MARKER_BIT : 0) | fields.payloadType;
  into.writeUInt16BE(fields.sequenceNumber, 2);
  into.writeUInt32BE(fields.timestamp, 4);
  into.writeUInt32BE(fields.ssrc, 8);
}
