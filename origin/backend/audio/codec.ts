/** What turns a call's RTP payloads into the sound of the Realtime protocol and back. */

/** Milliseconds of one frame sent. */
export const FRAME_MS = 20;

/** The Realtime protocol's name of a sound's coding. */
export type SoundFormat =
  | { readonly type: 'audio/pcm'; readonly rate: 24_000 }
  | { readonly type: 'audio/pcmu' }
  | { readonly type: 'audio/pcma' };

/** One call's codec: its decoder and encoder have state. Sound is bytes of `format`, mono. */
export interface VoiceCodec {
  readonly format: SoundFormat;
  readonly bytesPerMs: number;
  /** Ticks of the RTP clock per millisecond. */
  readonly ticksPerMs: number;
  /** Undefined for a payload that is not of the codec. */
  decode(payload: Uint8Array): Uint8Array | undefined;
  /** The lost packet before `next`, from what `next` says of it, or guessed. */
  recover(next: Uint8Array, ms: number): Uint8Array;
  /** A guess at sound that did not come. */
  conceal(ms: number): Uint8Array;
  silence(ms: number): Uint8Array;
  /** @param frame {@link FRAME_MS} of sound. */
  encode(frame: Uint8Array): Uint8Array;
  /** Frees what it holds; it must not be used after. */
  free(): void;
}
