/** How often and how long one call is tried. */

/** Transceivers asked for one call at most. */
export const MAX_TRIES = 3;

/** Milliseconds for all tries together, and for a single one. */
export const CALL_DEADLINE = 8_000;
export const TRY_TIMEOUT = 3_000;

/** The tries of one call, which begins now. */
export class Tries {
  #left = MAX_TRIES;
  readonly #deadline = Date.now() + CALL_DEADLINE;

  /** Whether the time for all of them is over. */
  get isLate(): boolean {
    return Date.now() >= this.#deadline;
  }

  /** Takes one: the milliseconds it may last, undefined when there is none left. */
  next(): number | undefined {
    const timeout = Math.min(TRY_TIMEOUT, this.#deadline - Date.now());
    if (this.#left === 0 || timeout <= 0) return undefined;
    this.#left--;
    return timeout;
  }
}
