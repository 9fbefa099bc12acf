/** G.711 payloads (RFC 3551 §4.5.14) as they are: the Realtime protocol takes them, so nothing is coded anew. */
import type { SoundFormat, VoiceCodec } from './codec.ts';
import { G711_SILENCE, type G711 } from './g711.ts';

const BYTES_PER_MS = 8;

/** Milliseconds of the largest payload taken. */
const MAX_PAYLOAD_MS = 120;

export class G711Codec implements VoiceCodec {
  readonly format: SoundFormat;
  readonly bytesPerMs = BYTES_PER_MS;
  readonly ticksPerMs = BYTES_PER_MS;
  readonly #silence: number;

  constructor(codec: G711) {
    this.format = { type: codec === 'pcmu' ? 'audio/pcmu' : 'audio/pcma' };
    this.#silence = G711_SILENCE[codec];
  }

  decode(payload: Uint8Array): Uint8Array | undefined {
    const isSound = payload.length > 0 && payload.length <= MAX_PAYLOAD_MS * BYTES_PER_MS;
    return isSound ? payload : undefined;
  }

  /** G.711 says nothing of other packets. */
  recover(_next: Uint8Array, ms: number): Uint8Array {
    return this.silence(ms);
  }

  conceal(ms: number): Uint8Array {
    return this.silence(ms);
  }

  silence(ms: number): Uint8Array {
    return new Uint8Array(Math.round(ms * BYTES_PER_MS)).fill(this.#silence);
  }

  encode(frame: Uint8Array): Uint8Array {
    return frame;
  }

  free(): void {}
}
