/** What we reach in werift beyond its types, all of it in one place: look here when its version changes. */
import type { RTCDataChannel, RTCDtlsTransport, RTCSctpTransport, SrtpSession } from 'werift';

/** One stream's chunks that do not make a message yet. */
interface InboundStream {
  readonly reassembly: readonly unknown[];
  popMessages(): Iterable<[stream: number, protocol: number, data: Buffer]>;
}

export interface SctpInternals {
  handleData(packet: Buffer): Promise<void>;
  readonly lastReceivedTsn: number | undefined;
  readonly localTsn: number;
  readonly localVerificationTag: number;
  advertisedRwnd: number;
  readonly inboundStreams: Record<number, InboundStream | undefined>;
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

/** The session keys of a cipher by werift's names; each is a Buffer, and a KeyObject does as well. */
export function cipherKeys(cipher: SrtpSession['localContext']['cipher']): Record<string, unknown> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- werift declares some of them private
  return cipher as unknown as Record<string, unknown>;
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
