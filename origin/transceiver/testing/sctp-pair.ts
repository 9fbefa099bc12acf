/** The data channels of a session, wired without DTLS to an SCTP client that tests drive chunk by chunk. */
import { vi } from 'vitest';
import { RTCSctpTransport } from 'werift';
import { DataChannels } from '../sctp.ts';
import { sctpInternals } from '../werift-internals.ts';
import { sctpPacket, words, type Chunk } from './sctp-packets.ts';

const PORT = 5000;
/** So that the tests' TSNs soon get a digit more. */
const FIRST_TSN = 9_900;
const WINDOW = 1 << 20;
const INIT = 1;
const INIT_ACK = 2;
const COOKIE_ECHO = 10;
const STATE_COOKIE = 7;
const COMPLETE = 3;

export interface SctpPair {
  readonly channels: DataChannels;
  /** Types of the chunks that came, one a packet. */
  readonly received: number[];
  readonly messages: (string | Uint8Array)[];
  readonly abuses: string[];
  /** Sends chunks in one packet; they are handled when it resolves. */
  send(...chunks: Chunk[]): Promise<void>;
  /** A DATA chunk with the next TSN, or one that many later. */
  data(stream: number, protocol: number, payload: Uint8Array, more?: DataOptions): Chunk;
  open(stream: number): Chunk;
  /** An outgoing stream reset request. */
  reset(stream: number): Chunk;
  /** A SACK of all that came. */
  sack(): Chunk;
  packet(...chunks: Chunk[]): Buffer;
  /** Another INIT, whose TSNs begin before all that came. */
  restart(): Promise<void>;
  /** The TSN sent last, and the one up to which all were received. */
  lastTsn(): number;
  position(): number | undefined;
  /** Streams that have state. */
  streams(): number;
  /** Channels that were opened. */
  openings(): number;
}

interface DataOptions {
  readonly flags?: number;
  readonly skip?: number;
}

/** Waits until all that needs no packet and no timer is done. */
const settled = () => new Promise<void>((resolve) => void setImmediate(resolve));

export async function sctpPair(): Promise<SctpPair> {
  const received: number[] = [];
  const messages: (string | Uint8Array)[] = [];
  const abuses: string[] = [];
  let tag = 0;
  let cookie: Buffer = Buffer.alloc(0);
  let tsn = FIRST_TSN;
  let resets = FIRST_TSN;
  let acknowledged = 0;
  const starts = vi.spyOn(RTCSctpTransport.prototype, 'start');
  const channels = new DataChannels(
    { sctpPort: PORT, maxMessageSize: 262_144 },
    {
      send(packet) {
        const type = packet[12]!;
        received.push(type);
        if (type === INIT_ACK) {
          tag = packet.readUInt32BE(16);
          acknowledged = packet.readUInt32BE(28) - 1;
          cookie = stateCookie(packet);
        }
        if (type === 0) acknowledged = packet.readUInt32BE(16);
      },
      established: () => undefined,
      opened: () => undefined,
      message: (_, data) => void messages.push(data),
      abused: (what) => void abuses.push(what),
    },
  );
  const transport = starts.mock.contexts.at(-1);
  starts.mockRestore();
  if (!(transport instanceof RTCSctpTransport)) throw new Error('no transport was started');
  const sctp = sctpInternals(transport);
  let openings = 0;
  transport.onDataChannel.subscribe(() => void openings++);
  const send = async (...chunks: Chunk[]) => {
    channels.receive(sctpPacket(tag, ...chunks));
    await settled();
  };
  const data: SctpPair['data'] = (
    stream,
    protocol,
    payload,
    { flags = COMPLETE, skip = 0 } = {},
  ) => {
    const body = Buffer.alloc(12 + payload.length);
    tsn += skip;
    body.writeUInt32BE(tsn++, 0);
    body.writeUInt16BE(stream, 4);
    body.writeUInt32BE(protocol, 8);
    body.set(payload, 12);
    return { type: 0, flags, body };
  };
  const start = async () => {
    const own = tag;
    tag = 0;
    await send({ type: INIT, body: words(7, WINDOW, 0xffff_ffff, tsn) });
    tag ||= own;
  };
  await start();
  await send({ type: COOKIE_ECHO, body: cookie });
  return {
    channels,
    received,
    messages,
    abuses,
    send,
    data,
    open: (stream) => data(stream, 50, Buffer.from('030000000000000000010000'.concat('78'), 'hex')),
    reset: (stream) => {
      const body = Buffer.concat([words(0x000d_0012, resets++, 0, tsn - 1), Buffer.alloc(2)]);
      body.writeUInt16BE(stream, 16);
      return { type: 130, body };
    },
    packet: (...chunks) => sctpPacket(tag, ...chunks),
    restart: () => {
      tsn -= 900;
      return start();
    },
    lastTsn: () => tsn - 1,
    position: () => sctp.lastReceivedTsn,
    streams: () => Object.keys(sctp.inboundStreams).length,
    openings: () => openings,
    sack: () => ({ type: 3, body: words(acknowledged, WINDOW, 0) }),
  };
}

function stateCookie(packet: Buffer): Buffer {
  for (let at = 32; at + 4 <= packet.length;) {
    const length = packet.readUInt16BE(at + 2);
    if (packet.readUInt16BE(at) === STATE_COOKIE) return packet.subarray(at + 4, at + length);
    at += length + (-length & 3);
  }
  throw new Error('the INIT ACK has no cookie');
}
