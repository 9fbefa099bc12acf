/** SCTP packets (RFC 9260) as an attacker writes them, with a checksum that is right. */
import { crc32c } from 'werift';

export interface Chunk {
  readonly type: number;
  readonly flags?: number;
  readonly body: Uint8Array;
  /** What the length field says; the true length by default. */
  readonly length?: number;
}

const PORT = 5000;

export function sctpPacket(tag: number, ...chunks: Chunk[]): Buffer {
  const header = Buffer.alloc(12);
  header.writeUInt16BE(PORT, 0);
  header.writeUInt16BE(PORT, 2);
  header.writeUInt32BE(tag, 4);
  const packet = Buffer.concat([header, ...chunks.map(chunkBytes)]);
  packet.writeUInt32LE(crc32c(packet), 8);
  return packet;
}

function chunkBytes({ type, flags = 0, body, length = 4 + body.length }: Chunk): Buffer {
  const bytes = Buffer.alloc(4 + body.length + (-body.length & 3));
  bytes[0] = type;
  bytes[1] = flags;
  bytes.writeUInt16BE(length, 2);
  bytes.set(body, 4);
  return bytes;
}

/** The body of a DATA chunk. */
export function dataBody(tsn: number, stream: number, protocol: number, payload: Uint8Array) {
  const body = Buffer.alloc(12 + payload.length);
  body.writeUInt32BE(tsn >>> 0, 0);
  body.writeUInt16BE(stream, 4);
  body.writeUInt32BE(protocol, 8);
  body.set(payload, 12);
  return body;
}

/** Integers of 32 bits, one after another. */
export function words(...values: number[]): Buffer {
  const body = Buffer.alloc(4 * values.length);
  for (const [i, value] of values.entries()) body.writeUInt32BE(value >>> 0, 4 * i);
  return body;
}
