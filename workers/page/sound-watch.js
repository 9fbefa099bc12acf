/** Watches what is heard packet by packet: when sound starts, and how long it was gone. */

/** Milliseconds between two looks; a packet has as much sound. */
const INTERVAL = 20;

/** Milliseconds between looks above which the page slept, and cannot tell when sound came. */
const SLEPT = 250;

/** Milliseconds without sound that people notice. */
export const AUDIBLE_GAP = 250;

/**
 * Fires `start` when sound comes after a silence, with `at` on the clock of `performance.now()`, and `gap`
 * with `ms` when it was an audible one.
 */
export class SoundWatch extends EventTarget {
  /** Milliseconds of the longest time without sound since the last reset, the present one included. */
  longest = 0;

  /** @type {RTCRtpReceiver | undefined} */
  #receiver;
  /** @type {number | undefined} When the last packet was played, on the receiver's clock. */
  #last;
  #seenAt = 0;
  #lookedAt = 0;
  /** @type {ReturnType<typeof setInterval> | undefined} */
  #timer;

  /** @param {RTCRtpReceiver} receiver */
  start(receiver) {
    this.stop();
    this.#receiver = receiver;
    this.#last = undefined;
    this.#lookedAt = performance.now();
    this.#timer = setInterval(() => this.#look(), INTERVAL);
    this.reset();
  }

  stop() {
    clearInterval(this.#timer);
    this.#receiver = undefined;
  }

  /** Counts from now on. */
  reset() {
    this.longest = 0;
  }

  #look() {
    const now = performance.now();
    const slept = now - this.#lookedAt > SLEPT;
    this.#lookedAt = now;
    const played = this.#receiver?.getSynchronizationSources()[0]?.timestamp;
    if (played === undefined) return;
    const before = this.#last;
    if (played === before) {
      if (!slept) this.longest = Math.max(this.longest, now - this.#seenAt);
      return;
    }
    this.#last = played;
    this.#seenAt = now;
    if (before === undefined) return this.#fire('start', now);
    if (slept) return;
    const ms = played - before;
    this.longest = Math.max(this.longest, ms);
    if (ms < AUDIBLE_GAP) return;
    this.#fire('start', now);
    this.#fire('gap', ms);
  }

  /**
   * @param {'start' | 'gap'} type
   * @param {number} ms
   */
  #fire(type, ms) {
    this.dispatchEvent(new CustomEvent(type, { detail: ms }));
  }
}
