/**
 * A check of SCTP packets (RFC 9260) before werift reads them. Werift trusts lengths: a chunk or
 * parameter of length zero makes it loop for ever, and what it does not know makes it throw. It also
 * does whatever a packet asks for as often as the packet asks.
 */

const COMMON_HEADER_LENGTH = 12;
const CHUNK_HEADER_LENGTH = 4;
const PARAMETER_HEADER_LENGTH = 4;

/** Bytes of the largest SCTP packet; browsers keep to 1,200, so that it fits any path (RFC 8831 §5). */
export const MAX_PACKET = 1_500;

/** TSNs that DATA may be ahead of what is missing; werift sorts them all for each SACK. */
export const MAX_TSN_AHEAD = 512;

/** Most parameters of a chunk; browsers put fewer than ten in an INIT. */
export const MAX_PARAMETERS = 16;

/** Most parameters of a RE-CONFIG chunk (RFC 6525 §3.1). */
const MAX_RECONFIG_PARAMETERS = 2;

/** Most streams that one FORWARD TSN moves on. */
const MAX_FORWARDED_STREAMS = 128;

/** Chunk types (RFC 9260 §3.2, RFC 6525, RFC 3758). */
const DATA = 0;
const SACK = 3;
const RECONFIG = 130;
const FORWARD_TSN = 192;

/** Fewest bytes of a chunk with its header, of every type werift knows. */
const MIN_LENGTHS: ReadonlyMap<number, number> = new Map([
  [DATA, 17],
  [1, 20], // INIT
  [2, 20], // INIT ACK
  [SACK, 16],
  [4, 4], // HEARTBEAT
  [5, 4], // HEARTBEAT ACK
  [6, 4], // ABORT
  [7, 8], // SHUTDOWN
  [8, 4], // SHUTDOWN ACK
  [9, 4], // ERROR
  [10, 4], // COOKIE ECHO
  [11, 4], // COOKIE ACK
  [14, 4], // SHUTDOWN COMPLETE
  [RECONFIG, 8],
  [FORWARD_TSN, 8],
]);

/** Where the parameters of a chunk begin, for chunks that have some. */
const PARAMETERS_AT: ReadonlyMap<number, number> = new Map([
  [1, 20],
  [2, 20],
  [4, 4],
  [5, 4],
  [6, 4],
  [9, 4],
  [RECONFIG, 4],
]);

/** Fewest bytes of the value of a re-configuration parameter werift reads (RFC 6525 §4). */
const RECONFIG_VALUES: ReadonlyMap<number, number> = new Map([
  [13, 12], // outgoing SSN reset request
  [16, 8], // response
  [17, 8], // add outgoing streams
]);

/** Where an association stands. */
export interface SctpPosition {
  /** Undefined before the peer's INIT. */
  readonly lastReceivedTsn: number | undefined;
  /** The next TSN that a chunk is given. */
  readonly localTsn: number;
  /** Chunks that have a TSN and were never sent. */
  readonly outboundQueue: { readonly length: number };
}

/** Total: true when werift can read the packet at bounded cost. */
export function isSoundSctp(packet: Buffer, position: SctpPosition): boolean {
  if (packet.length < COMMON_HEADER_LENGTH + CHUNK_HEADER_LENGTH || packet.length > MAX_PACKET) {
    return false;
  }
  const seen = new Set<number>();
  for (let at = COMMON_HEADER_LENGTH; at + CHUNK_HEADER_LENGTH <= packet.length;) {
    const length = packet.readUInt16BE(at + 2);
    const type = packet[at]!;
    // No sender has a reason to say anything but DATA twice in one packet.
    if (seen.has(type)) return false;
    if (type !== DATA) seen.add(type);
    const min = MIN_LENGTHS.get(type);
    if (min === undefined || length < min || at + length > packet.length) return false;
    if (!isSoundChunk(packet.subarray(at, at + length), position)) return false;
    at += length + (-length & 3);
  }
  return true;
}

function isSoundChunk(chunk: Buffer, position: SctpPosition): boolean {
  const type = chunk[0]!;
  const parametersAt = PARAMETERS_AT.get(type);
  if (parametersAt !== undefined) return hasSoundParameters(chunk, parametersAt, type === RECONFIG);
  if (type === DATA) return isNear(chunk.readUInt32BE(4), position.lastReceivedTsn);
  if (type === SACK) return isSoundSack(chunk, position);
  if (type !== FORWARD_TSN) return true;
  if (chunk.length > MIN_LENGTHS.get(FORWARD_TSN)! + 4 * MAX_FORWARDED_STREAMS) return false;
  return chunk.length % 4 === 0 && isNear(chunk.readUInt32BE(4), position.lastReceivedTsn);
}

/** True for TSNs already received, which are duplicates, and for those not too far ahead (RFC 1982). */
function isNear(tsn: number, lastReceived: number | undefined): boolean {
  if (lastReceived === undefined) return false;
  const ahead = (tsn - lastReceived) >>> 0;
  return ahead <= MAX_TSN_AHEAD || ahead >= 2 ** 31;
}

function isSoundSack(chunk: Buffer, { localTsn, outboundQueue }: SctpPosition): boolean {
  const gaps = chunk.readUInt16BE(12);
  const duplicates = chunk.readUInt16BE(14);
  if (chunk.length !== 16 + 4 * (gaps + duplicates)) return false;
  // What was never sent cannot be acknowledged.
  const inFlight = (localTsn - 1 - outboundQueue.length - chunk.readUInt32BE(4)) >>> 0;
  if (inFlight >= 2 ** 31) return false;
  let last = 0;
  for (let i = 0; i < gaps; i++) {
    const start = chunk.readUInt16BE(16 + 4 * i);
    const end = chunk.readUInt16BE(18 + 4 * i);
    if (start <= last || end < start || end > inFlight) return false;
    last = end;
  }
  return true;
}

function hasSoundParameters(chunk: Buffer, start: number, isReconfig: boolean): boolean {
  let left = isReconfig ? MAX_RECONFIG_PARAMETERS : MAX_PARAMETERS;
  for (let at = start; at + PARAMETER_HEADER_LENGTH <= chunk.length; left--) {
    if (left === 0) return false;
    const length = chunk.readUInt16BE(at + 2);
    if (length < PARAMETER_HEADER_LENGTH || at + length > chunk.length) return false;
    const min = isReconfig ? RECONFIG_VALUES.get(chunk.readUInt16BE(at)) : undefined;
    const value = length - PARAMETER_HEADER_LENGTH;
    if (min !== undefined && (value < min || value % 2 !== 0)) return false;
    at += length + (-length & 3);
  }
  return true;
}
