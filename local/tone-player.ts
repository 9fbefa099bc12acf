/** Feeds a tone into a libwebrtc audio source in real time. */
import { toneSamples } from './tone.ts';
import type { AudioSource } from './webrtc.ts';

const SAMPLE_RATE = 48_000;

/** libwebrtc takes sound in frames of 10 ms. */
const FRAME_MS = 10;
const FRAME_SAMPLES = (SAMPLE_RATE * FRAME_MS) / 1000;

/** Frames made up for at once after this process was held up; older ones are skipped. */
const MAX_BURST = 10;

/** A quarter of full scale: loud, yet far from clipping. */
const AMPLITUDE = 8192;

export class TonePlayer {
  readonly #source: AudioSource;
  readonly #hz: number;
  readonly #amplitude: number;
  #timer: NodeJS.Timeout | undefined;
  #start = 0;
  #played = 0;

  /** @param amplitude In units of a 16-bit sample; 0 is silence. */
  constructor(source: AudioSource, hz: number, amplitude = AMPLITUDE) {
    this.#source = source;
    this.#hz = hz;
    this.#amplitude = amplitude;
  }

  start(): void {
    this.#start = performance.now();
    this.#played = 0;
    this.#timer = setInterval(() => this.#catchUp(), FRAME_MS);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** Timers come late under load; the tone must not, for a gap is heard as another sound. */
  #catchUp(): void {
    const due = Math.floor((performance.now() - this.#start) / FRAME_MS);
    this.#played = Math.max(this.#played, due - MAX_BURST);
    for (; this.#played < due; this.#played++) {
      const from = this.#played * FRAME_SAMPLES;
      this.#source.onData({
        samples: toneSamples(this.#hz, SAMPLE_RATE, from, FRAME_SAMPLES, this.#amplitude),
        sampleRate: SAMPLE_RATE,
        bitsPerSample: 16,
        channelCount: 1,
        numberOfFrames: FRAME_SAMPLES,
      });
    }
  }
}
