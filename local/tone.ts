/** Makes a pure tone and finds out whether one is heard. */

/** Samples of a sine, continuing at sample `from`. `amplitude` is in units of a 16-bit sample. */
export function toneSamples(
  hz: number,
  sampleRate: number,
  from: number,
  count: number,
  amplitude: number,
): Int16Array<ArrayBuffer> {
  const samples = new Int16Array(count);
  const step = (2 * Math.PI * hz) / sampleRate;
  for (let i = 0; i < count; i++) samples[i] = Math.round(amplitude * Math.sin(step * (from + i)));
  return samples;
}

/**
 * The share of the signal's power that lies at `hz`, by the Goertzel algorithm: 1 for a pure tone,
 * near 0 for noise, for another tone and for silence.
 */
export function toneShare(samples: Int16Array, hz: number, sampleRate: number): number {
  const coefficient = 2 * Math.cos((2 * Math.PI * hz) / sampleRate);
  let last = 0;
  let beforeLast = 0;
  let energy = 0;
  for (const sample of samples) {
    const next = sample + coefficient * last - beforeLast;
    beforeLast = last;
    last = next;
    energy += sample * sample;
  }
  if (energy === 0) return 0;
  const power = last * last + beforeLast * beforeLast - coefficient * last * beforeLast;
  return Math.min(1, (2 * power) / (samples.length * energy));
}

/** The loudest sample. */
export function peak(samples: Int16Array): number {
  let loudest = 0;
  for (const sample of samples) loudest = Math.max(loudest, Math.abs(sample));
  return loudest;
}

/** Keeps the newest samples and says whether they are one steady tone. */
export class ToneListener {
  readonly #hz: number;
  #window = new Int16Array(0);
  #filled = 0;
  #sampleRate = 0;

  constructor(hz: number) {
    this.#hz = hz;
  }

  /** Share of the tone in the last {@link TONE_WINDOW} milliseconds; 0 until that much was heard. */
  get share(): number {
    const full = this.#filled === this.#window.length && this.#filled > 0;
    return full ? toneShare(this.#window, this.#hz, this.#sampleRate) : 0;
  }

  hear(samples: Int16Array, sampleRate: number): void {
    if (sampleRate !== this.#sampleRate) {
      this.#sampleRate = sampleRate;
      this.#window = new Int16Array(Math.round((sampleRate * TONE_WINDOW) / 1000));
      this.#filled = 0;
    }
    const fresh = samples.subarray(Math.max(0, samples.length - this.#window.length));
    this.#window.copyWithin(0, fresh.length);
    this.#window.set(fresh, this.#window.length - fresh.length);
    this.#filled = Math.min(this.#window.length, this.#filled + fresh.length);
  }
}

/** Milliseconds of sound that are judged: long enough to tell a tone from its neighbours by 5 Hz. */
export const TONE_WINDOW = 200;
