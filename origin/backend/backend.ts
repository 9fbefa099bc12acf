/** The seam between a call and the service that speaks in it. */
import type { SessionConfig } from '../../protocol/session-config.ts';

export type AudioCodec = 'opus' | 'pcmu' | 'pcma';

/** One RTP payload with what its header says (RFC 3550 §5.1). */
export interface AudioPacket {
  readonly payload: Uint8Array;
  /** In units of the codec's clock: 48 kHz for Opus, 8 kHz for PCMU and PCMA. */
  readonly timestamp: number;
  readonly marker: boolean;
}

/** A packet as the client sent it: authentic and new, but in any order, and some never come. */
export interface ReceivedAudio extends AudioPacket {
  /** 16 bits. */
  readonly sequenceNumber: number;
}

/** What a back end may do to a call. Sending to a call that has ended does nothing. */
export interface Call {
  /** The transceiver's name of the session. */
  readonly id: string;
  readonly tenant: string;
  /** Undefined when the offer had no audio. */
  readonly codec: AudioCodec | undefined;
  /** What the caller asks of the voice; a back end may take it or leave it. */
  readonly session?: SessionConfig | undefined;
  /** The timestamp is relative to the back end's own first packet; sequence numbers are the call's. */
  sendAudio(packet: AudioPacket): void;
  /** Sends on the open data channel of that label; nothing when there is none. */
  sendData(label: string, data: string | Uint8Array): void;
  /** Ends the call, for the back end cannot go on. The reason is for logs. */
  fail(reason: string): void;
}

/** One call's side of a back end. */
export interface BackendSession {
  audio(packet: ReceivedAudio): void;
  data(label: string, data: string | Uint8Array): void;
  /** The client has opened a data channel of that label, which can be sent on from now on. */
  opened?(label: string): void;
  /** The call has ended; nothing more will come. */
  close(): void;
}

export interface Backend {
  readonly name: string;
  /** Called once the client's media path is up. */
  open(call: Call): BackendSession;
}
