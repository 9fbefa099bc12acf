/** The seam between a call and the service that speaks in it. */

export type AudioCodec = 'opus' | 'pcmu';

/** One RTP payload with what its header says (RFC 3550 §5.1). */
export interface AudioPacket {
  readonly payload: Uint8Array;
  /** In units of the codec's clock: 48 kHz for Opus, 8 kHz for PCMU. */
  readonly timestamp: number;
  readonly marker: boolean;
}

/** What a back end may do to a call. Sending to a call that has ended does nothing. */
export interface Call {
  /** The transceiver's name of the session. */
  readonly id: string;
  readonly tenant: string;
  /** Undefined when the offer had no audio. */
  readonly codec: AudioCodec | undefined;
  /** The timestamp is relative to the back end's own first packet; sequence numbers are the call's. */
  sendAudio(packet: AudioPacket): void;
  /** Sends on the open data channel of that label; nothing when there is none. */
  sendData(label: string, data: string | Uint8Array): void;
}

/** One call's side of a back end. */
export interface BackendSession {
  audio(packet: AudioPacket): void;
  data(label: string, data: string | Uint8Array): void;
  /** The call has ended; nothing more will come. */
  close(): void;
}

export interface Backend {
  readonly name: string;
  /** Called once the client's media path is up. */
  open(call: Call): BackendSession;
}
