/** What we reach in werift beyond its types, all of it in one place: look here when its version changes. */
import type { RTCDataChannel, RTCDtlsTransport, RTCSctpTransport } from 'werift';

export interface HeldChunk {
  readonly userData: Buffer;
}

export interface SentChunk {
  readonly userData: Buffer;
  /** Bytes that it adds to what is in flight. */
  bookSize: number;
}

/** One stream's chunks that do not make a message yet. */
export interface InboundStream {
  readonly reassembly: readonly HeldChunk[];
  streamSequenceNumber: number;
  addChunk(chunk: HeldChunk): void;
  popMessages(): Iterable<[stream: number, protocol: number, data: Buffer]>;
}

export interface SctpInternals {
  handleData(packet: Buffer): Promise<void>;
  /** Undefined before the peer's INIT. */
  lastReceivedTsn: number | undefined;
  /** The next TSN that a chunk is given. */
  readonly localTsn: number;
  readonly localVerificationTag: number;
  advertisedRwnd: number;
  readonly inboundStreams: Record<number, InboundStream | undefined>;
  getInboundStream(stream: number): InboundStream;
  /** True for a TSN received before. */
  markReceived(tsn: number): boolean;
  /** TSNs received behind a gap. */
  readonly sackMisOrdered: Set<number>;
  readonly sackDuplicates: number[];
  /** Bytes sent and not acknowledged, as the congestion window counts them. */
  flightSize: number;
  flightSizeIncrease(chunk: SentChunk): void;
  /** Chunks never sent yet, and those sent but not acknowledged. */
  readonly outboundQueue: readonly unknown[];
  readonly sentQueue: readonly unknown[];
  /** Streams whose reset waits to be asked for. */
  readonly reconfigQueue: readonly number[];
  receive(stream: number, protocol: number, data: Buffer): void;
  /** Seconds. */
  rto: number;
}

export interface TransportInternals {
  datachannelReceive(stream: number, protocol: number, data: Buffer): Promise<void>;
  readonly dataChannelQueue: [RTCDataChannel, number, Buffer][];
  dataChannelFlush(): Promise<void>;
}

export function sctpInternals(transport: RTCSctpTransport): SctpInternals {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- werift declares these private
  return transport.sctp as unknown as SctpInternals;
}

export function transportInternals(transport: RTCSctpTransport): TransportInternals {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- werift declares these private
  return transport as unknown as TransportInternals;
}

/** What werift's SCTP needs of the DTLS below it: a way out, and an ICE role that lets the client open. */
export function dtlsBelow(send: (packet: Buffer) => void): RTCDtlsTransport {
  const dtls = {
    id: 'dtls',
    iceTransport: { role: 'controlled' },
    onStateChange: { subscribe: () => ({ unSubscribe: () => undefined }) },
    dataReceiver: () => undefined,
    sendData(packet: Buffer) {
      send(packet);
      return Promise.resolve();
    },
  };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it uses only these of a whole transport
  return dtls as unknown as RTCDtlsTransport;
}
