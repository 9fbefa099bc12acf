/** Packets as tests send them: STUN without any integrity, which a relay does not look at, and trunk frames. */
import { randomBytes } from 'node:crypto';
import { formatAddress, parseAddress } from '../../../protocol/address.ts';
import type { TrunkAddress } from '../../../protocol/footprint.ts';
import { STUN_MAGIC_COOKIE } from '../../../protocol/stun.ts';
import {
  TRUNK_CLIENT,
  TRUNK_DOWN,
  TRUNK_HEADER_LENGTH,
  TRUNK_LISTENER,
  TRUNK_PROXY,
  setTrunkFlags,
  setTrunkLength,
  trunkClientPort,
  trunkFlags,
  hasTrunkFrame,
  trunkFrameEnd,
  trunkProxyPort,
  writeTrunkHeader,
} from '../../../protocol/trunk.ts';

export const BINDING_REQUEST = 0x0001;
export const BINDING_SUCCESS = 0x0101;
export const GOOG_PING = 0x0200;

const USERNAME = 0x0006;
/** An attribute nobody knows (RFC 8489 §18.3 leaves it to private use), to make messages long. */
const PADDING = 0xc0de;

/** An RTP packet, as far as a relay can tell. */
export const RTP = Buffer.concat([Buffer.of(0x80, 111), Buffer.from('voice voice voice')]);
export const DTLS = Buffer.concat([Buffer.of(22, 254, 253), Buffer.from('hello')]);

export function transactionId(): Buffer {
  return randomBytes(12);
}

/** @param attributes Pairs of type and value. */
export function stun(type: number, id: Uint8Array, attributes: [number, Uint8Array][]): Buffer {
  const body = attributes.map(([name, value]) => {
    const bytes = Buffer.alloc(4 + value.length + (-value.length & 3));
    bytes.writeUInt16BE(name, 0);
    bytes.writeUInt16BE(value.length, 2);
    bytes.set(value, 4);
    return bytes;
  });
  const header = Buffer.alloc(20);
  header.writeUInt16BE(type, 0);
  header.writeUInt16BE(Buffer.concat(body).length, 2);
  header.writeUInt32BE(STUN_MAGIC_COOKIE, 4);
  header.set(id, 8);
  return Buffer.concat([header, ...body]);
}

/** A check of a client. @param padTo Length of the whole, when the username alone is shorter. */
export function check(ufrag: string, id: Uint8Array = transactionId(), padTo = 0): Buffer {
  const username: [number, Uint8Array] = [USERNAME, Buffer.from(`${ufrag}:client`)];
  const plain = stun(BINDING_REQUEST, id, [username]);
  const missing = padTo - plain.length - 4;
  if (missing < 0) return plain;
  return stun(BINDING_REQUEST, id, [username, [PADDING, Buffer.alloc(missing)]]);
}

export function success(id: Uint8Array): Buffer {
  return stun(BINDING_SUCCESS, id, []);
}

export interface Frame {
  readonly flags: number;
  readonly listener: number;
  readonly client: TrunkAddress;
  readonly proxy: TrunkAddress;
  readonly payload: Buffer;
  /** The frame itself. */
  readonly bytes: Buffer;
}

/** All frames of a trunk datagram. @throws Error when it is not frames to its end. */
export function readFrames(datagram: Buffer): Frame[] {
  const frames: Frame[] = [];
  let at = 0;
  do {
    const next = trunkFrameEnd(datagram, at, datagram.length);
    if (next < 0) throw new Error('not a trunk datagram');
    frames.push({
      flags: trunkFlags(datagram, at),
      listener: datagram[at + TRUNK_LISTENER]!,
      client: {
        address: formatAddress(datagram, at + TRUNK_CLIENT),
        port: trunkClientPort(datagram, at),
      },
      proxy: {
        address: formatAddress(datagram, at + TRUNK_PROXY),
        port: trunkProxyPort(datagram, at),
      },
      payload: datagram.subarray(at + TRUNK_HEADER_LENGTH, next),
      bytes: datagram.subarray(at, next),
    });
    at = next;
  } while (hasTrunkFrame(datagram, at, datagram.length));
  return frames;
}

export function makeFrame(frame: Omit<Frame, 'bytes'>): Buffer {
  const out = Buffer.alloc(TRUNK_HEADER_LENGTH + frame.payload.length);
  writeTrunkHeader(
    out,
    0,
    frame.flags,
    frame.listener,
    frame.payload.length,
    parseAddress(frame.client.address),
    0,
    frame.client.port,
    parseAddress(frame.proxy.address),
    0,
    frame.proxy.port,
  );
  out.set(frame.payload, TRUNK_HEADER_LENGTH);
  return out;
}

/** What a transceiver sends to answer an up frame: its header again, the other way round. */
export function replyTo(up: Frame, payload: Uint8Array): Buffer {
  const reply = Buffer.concat([up.bytes.subarray(0, TRUNK_HEADER_LENGTH), payload]);
  setTrunkFlags(reply, 0, TRUNK_DOWN);
  setTrunkLength(reply, 0, payload.length);
  return reply;
}
