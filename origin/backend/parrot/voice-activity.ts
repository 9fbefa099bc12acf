/** Tells speech from background by how loud it is, with a floor that follows the background. */

/** Decibels of full scale. Nothing is quieter than the first; nothing below the second is speech. */
const QUIETEST = -70;
const AUDIBLE = -45;

/** Decibels above the floor at which speech starts, and below which it may have stopped. */
const START_ABOVE = 12;
const STOP_ABOVE = 8;

/** Frames in a row that make a start: a click is shorter. */
const START_FRAMES = 3;

/** Milliseconds of quiet that end speech unless asked otherwise: people pause within a sentence. */
export const HANGOVER_MS = 500;

/** How far the floor follows in one frame: down at once nearly, up slowly, and hardly in speech. */
const FALL = 0.3;
const RISE = 0.02;
const RISE_IN_SPEECH = 0.000_5;

const FULL_SCALE = 32_768;

export class VoiceActivity {
  readonly #frameMs: number;
  #hangoverFrames: number;
  #floor = QUIETEST;
  #isSpeech = false;
  /** Frames in a row that speak against the present state. */
  #against = 0;

  /** @param frameMs Milliseconds of each frame that it hears. */
  constructor(frameMs: number) {
    this.#frameMs = frameMs;
    this.#hangoverFrames = Math.ceil(HANGOVER_MS / frameMs);
  }

  get isSpeech(): boolean {
    return this.#isSpeech;
  }

  /** @param ms Of quiet that end speech. */
  setHangover(ms: number): void {
    this.#hangoverFrames = Math.max(1, Math.ceil(ms / this.#frameMs));
  }

  /** Hears one frame; says when it starts or stops speech. */
  hear(samples: Int16Array): 'started' | 'stopped' | undefined {
    const level = loudness(samples);
    const above = this.#isSpeech ? STOP_ABOVE : START_ABOVE;
    const isLoud = level > Math.max(AUDIBLE, this.#floor + above);
    this.#follow(level);
    this.#against = isLoud === this.#isSpeech ? 0 : this.#against + 1;
    if (this.#against < (this.#isSpeech ? this.#hangoverFrames : START_FRAMES)) return undefined;
    this.#against = 0;
    this.#isSpeech = !this.#isSpeech;
    return this.#isSpeech ? 'started' : 'stopped';
  }

  /** Ends speech whatever is heard. */
  stop(): void {
    this.#isSpeech = false;
    this.#against = 0;
  }

  #follow(level: number): void {
    const rise = this.#isSpeech ? RISE_IN_SPEECH : RISE;
    this.#floor += (level - this.#floor) * (level < this.#floor ? FALL : rise);
  }
}

/** Root mean square, in decibels of full scale. */
function loudness(samples: Int16Array): number {
  let energy = 0;
  for (const sample of samples) energy += sample * sample;
  const level = 10 * Math.log10(energy / Math.max(1, samples.length) / FULL_SCALE ** 2);
  return Math.max(QUIETEST, level);
}
