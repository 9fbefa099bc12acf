/**
 * The trunk: what relays and transceivers send each other over UDP. A datagram holds one or more
 * frames, back to back, and then any number of zeros, which mean nothing: they give datagrams the same
 * length, so that the system can be handed many at once. Frame, big endian:
 *
 * `kind u8 | listener u8 | length u16 | client address 16 B | proxy address 16 B | client port u16 |
 * proxy port u16 | payload`
 *
 * Addresses are IPv6 or v4-mapped; `length` counts the payload, at least 1 byte. `proxy` is the trunk
 * address of the relay that holds the client, `listener` names the socket of that relay the client
 * sent to, so a reply that repeats the header needs no state to find its way back. The fields after
 * the length are those of Cloudflare's Simple Proxy Protocol.
 *
 * `kind` is the magic 0xc4 plus two bits: {@link TRUNK_DOWN} for frames on their way to the client,
 * {@link TRUNK_PASSED} once a relay has passed a frame on to another relay's region, which happens at
 * most once, so that no mistake in a route can make a loop.
 */
import { ADDRESS_LENGTH } from './address.ts';

/** The fixed bits of a frame's first byte, outside RFC 7983: a trunk never passes for media. */
export const TRUNK_MAGIC = 0xc4;
export const TRUNK_DOWN = 0x01;
export const TRUNK_PASSED = 0x02;

/**
 * Largest datagram that frames are joined into, in bytes of UDP payload, unless told otherwise: what fits
 * an Ethernet frame under IPv6. A longer frame travels alone.
 */
export const TRUNK_MTU = 1452;

/** Bytes before the payload. */
export const TRUNK_HEADER_LENGTH = 40;

/** Offsets of the fields from the start of a frame, in bytes. */
export const TRUNK_LISTENER = 1;
export const TRUNK_LENGTH = 2;
export const TRUNK_CLIENT = 4;
export const TRUNK_PROXY = 20;
export const TRUNK_CLIENT_PORT = 36;
export const TRUNK_PROXY_PORT = 38;

/**
 * Writes a frame's header at `at`; the caller puts `payloadLength` bytes of payload behind it.
 * Allocates nothing. Addresses are 16 bytes at the given offset of their array.
 *
 * @param flags Any of {@link TRUNK_DOWN} and {@link TRUNK_PASSED}.
 */
export function writeTrunkHeader(
  out: Uint8Array,
  at: number,
  flags: number,
  listener: number,
  payloadLength: number,
  client: Uint8Array,
  clientAt: number,
  clientPort: number,
  proxy: Uint8Array,
  proxyAt: number,
  proxyPort: number,
): void {
  out[at] = TRUNK_MAGIC | flags;
  out[at + TRUNK_LISTENER] = listener;
  writeUint16(out, at + TRUNK_LENGTH, payloadLength);
  for (let i = 0; i < ADDRESS_LENGTH; i++) {
    out[at + TRUNK_CLIENT + i] = client[clientAt + i]!;
    out[at + TRUNK_PROXY + i] = proxy[proxyAt + i]!;
  }
  writeUint16(out, at + TRUNK_CLIENT_PORT, clientPort);
  writeUint16(out, at + TRUNK_PROXY_PORT, proxyPort);
}

/**
 * Where the frame that starts at `at` ends; -1 when no whole frame is there. Total on any bytes.
 * Read a datagram with `do … while (hasTrunkFrame(bytes, at, end))`, and drop the rest on -1.
 */
export function trunkFrameEnd(bytes: Uint8Array, at: number, end: number): number {
  if (at + TRUNK_HEADER_LENGTH >= end || (bytes[at]! & 0xfc) !== TRUNK_MAGIC) return -1;
  const length = readUint16(bytes, at + TRUNK_LENGTH);
  const next = at + TRUNK_HEADER_LENGTH + length;
  return length === 0 || next > end ? -1 : next;
}

/** Whether something other than padding follows at `at`, where a frame has ended. */
export function hasTrunkFrame(bytes: Uint8Array, at: number, end: number): boolean {
  return at < end && bytes[at] !== 0;
}

/** The {@link TRUNK_DOWN} and {@link TRUNK_PASSED} bits of a frame. */
export function trunkFlags(bytes: Uint8Array, at: number): number {
  return bytes[at]! & 0x03;
}

/** Replaces the flags of a frame whose other fields stay. */
export function setTrunkFlags(bytes: Uint8Array, at: number, flags: number): void {
  bytes[at] = TRUNK_MAGIC | flags;
}

/** Replaces the payload's length in a header whose other fields stay, as a reply does. */
export function setTrunkLength(bytes: Uint8Array, at: number, payloadLength: number): void {
  writeUint16(bytes, at + TRUNK_LENGTH, payloadLength);
}

export function trunkClientPort(bytes: Uint8Array, at: number): number {
  return readUint16(bytes, at + TRUNK_CLIENT_PORT);
}

export function trunkProxyPort(bytes: Uint8Array, at: number): number {
  return readUint16(bytes, at + TRUNK_PROXY_PORT);
}

function readUint16(bytes: Uint8Array, at: number): number {
  return (bytes[at]! << 8) | bytes[at + 1]!;
}

function writeUint16(bytes: Uint8Array, at: number, value: number): void {
  bytes[at] = value >>> 8;
  bytes[at + 1] = value;
}
