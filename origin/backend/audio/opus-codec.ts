/** Opus payloads (RFC 7587) to PCM16 of 24 kHz and back, by libopus in WebAssembly. */
import {
  Application,
  Signal,
  createDecoder,
  createEncoder,
  type OpusDecoderHandle,
  type OpusEncoderHandle,
} from 'libopus-wasm';
import { FRAME_MS, type VoiceCodec } from './codec.ts';

/** Opus decodes and encodes at this rate itself, so nothing is resampled. */
const RATE = 24_000;
const SAMPLES_PER_MS = RATE / 1000;

/** Bits per second: wideband speech and its FEC. */
const BITRATE = 32_000;

/** Of 0 to 10; above it the CPU time grows and speech sounds the same. */
const COMPLEXITY = 5;

/** Percent of packets the encoder makes FEC for. */
const EXPECTED_LOSS = 10;

/** libopus conceals in steps of 2.5 ms and at most this much at a time, in milliseconds. */
const MAX_CONCEALED = 120;
const CONCEAL_STEP = 2.5;

export async function openOpusCodec(): Promise<VoiceCodec> {
  const decoder = await createDecoder({ channels: 1, sampleRate: RATE });
  try {
    const encoder = await createEncoder({
      channels: 1,
      sampleRate: RATE,
      frameSize: FRAME_MS * SAMPLES_PER_MS,
      application: Application.Voip,
      signal: Signal.Voice,
      bitrate: BITRATE,
      complexity: COMPLEXITY,
      fec: true,
      packetLossPercent: EXPECTED_LOSS,
    });
    return new OpusCodec(decoder, encoder);
  } catch (error) {
    decoder.free();
    throw error;
  }
}

class OpusCodec implements VoiceCodec {
  readonly format = { type: 'audio/pcm', rate: RATE } as const;
  readonly bytesPerMs = 2 * SAMPLES_PER_MS;
  readonly ticksPerMs = 48;
  readonly #decoder: OpusDecoderHandle;
  readonly #encoder: OpusEncoderHandle;

  constructor(decoder: OpusDecoderHandle, encoder: OpusEncoderHandle) {
    this.#decoder = decoder;
    this.#encoder = encoder;
  }

  decode(payload: Uint8Array): Uint8Array | undefined {
    try {
      return bytesOf(this.#decoder.decode(payload));
    } catch {
      return undefined;
    }
  }

  recover(next: Uint8Array, ms: number): Uint8Array {
    try {
      const frameSize = concealable(ms) * SAMPLES_PER_MS;
      return bytesOf(this.#decoder.decode(next, { decodeFec: true, frameSize }));
    } catch {
      return this.conceal(ms);
    }
  }

  conceal(ms: number): Uint8Array {
    return bytesOf(this.#decoder.decodePacketLoss(concealable(ms) * SAMPLES_PER_MS));
  }

  silence(ms: number): Uint8Array {
    return new Uint8Array(ms * this.bytesPerMs);
  }

  encode(frame: Uint8Array): Uint8Array {
    return this.#encoder.encode(frame);
  }

  free(): void {
    this.#decoder.free();
    this.#encoder.free();
  }
}

function concealable(ms: number): number {
  const bounded = Math.min(MAX_CONCEALED, Math.max(CONCEAL_STEP, ms));
  return Math.round(bounded / CONCEAL_STEP) * CONCEAL_STEP;
}

function bytesOf(samples: Int16Array): Uint8Array {
  return new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength);
}
