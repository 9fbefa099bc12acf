/** How long an answer takes: from the end of what the caller says to the first sound that comes back. */

/** Milliseconds between two looks at the microphone. */
const INTERVAL = 20;

/** Loudness of speech: 45 dB below full scale, which is what the parrot takes for it. */
const SPEECH = 10 ** (-45 / 20);

/** Milliseconds after which sound that comes is no answer any more. */
const LONGEST = 10_000;

export class AnswerTime {
  /** @type {number | undefined} Milliseconds of the last answer. */
  last;

  /** @type {number | undefined} When speech was last heard that nothing has answered yet. */
  #spokeAt;
  #timer;

  /** @param {() => number} level Loudness of the caller now, 0 to 1. */
  constructor(level) {
    this.#timer = setInterval(() => {
      if (level() > SPEECH) this.#spokeAt = performance.now();
    }, INTERVAL);
  }

  /** @param {number} at When sound came after a silence, as of `performance.now()`. */
  soundStarts(at) {
    const spokeAt = this.#spokeAt;
    this.#spokeAt = undefined;
    if (spokeAt !== undefined && at - spokeAt < LONGEST) this.last = at - spokeAt;
  }

  stop() {
    clearInterval(this.#timer);
  }
}
