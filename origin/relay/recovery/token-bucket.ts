/** Limits how often something happens: a burst at once, and a steady rate after it. */

export interface Rate {
  /** How often at once. */
  readonly burst: number;
  /** How often in a second, once the burst is spent. */
  readonly perSecond: number;
}

export class TokenBucket {
  readonly #rate: Rate;
  #tokens: number;
  #filledAt = -Infinity;

  constructor(rate: Rate) {
    this.#rate = rate;
    this.#tokens = rate.burst;
  }

  /** Whether it may happen now. @param now Milliseconds of any clock that never goes back. */
  take(now: number): boolean {
    const { burst, perSecond } = this.#rate;
    this.#tokens = Math.min(burst, this.#tokens + ((now - this.#filledAt) / 1000) * perSecond);
    this.#filledAt = now;
    if (this.#tokens < 1) return false;
    this.#tokens--;
    return true;
  }
}
