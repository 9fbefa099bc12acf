/** Stops asking a service that fails, and tries it again with one request at a time. */

/** Failures in a row that open the circuit: one lost request tells nothing. */
export const BREAKER_FAILURES = 3;

/** Milliseconds an open circuit lets nothing through. */
export const BREAKER_PAUSE = 500;

export type BreakerState = 'closed' | 'open' | 'half-open';

/** Times are milliseconds of any clock that never goes back. */
export class CircuitBreaker {
  #failures = 0;
  #openUntil = 0;
  #onTrial = false;

  /** Half-open: the next request, or the one under way, decides. */
  state(now: number): BreakerState {
    if (this.#failures < BREAKER_FAILURES) return 'closed';
    return now < this.#openUntil ? 'open' : 'half-open';
  }

  /** Whether a request may go out now. Whoever sends it says how it ended, by one of the calls below. */
  admit(now: number): boolean {
    const state = this.state(now);
    if (state === 'closed') return true;
    if (state === 'open' || this.#onTrial) return false;
    this.#onTrial = true;
    return true;
  }

  succeeded(): void {
    this.#failures = 0;
    this.#onTrial = false;
  }

  /** @returns Whether this failure opened the circuit. */
  failed(now: number): boolean {
    const wasClosed = this.#failures < BREAKER_FAILURES;
    const decides = wasClosed || this.#onTrial;
    this.#failures = Math.min(this.#failures + 1, BREAKER_FAILURES);
    this.#onTrial = false;
    // What was sent before the circuit opened tells nothing new when it fails after that.
    if (!decides || this.#failures < BREAKER_FAILURES) return false;
    this.#openUntil = now + BREAKER_PAUSE;
    return true;
  }

  /** There is reason to hope, as after a reconnect: an open circuit goes half-open at once. */
  retry(): void {
    this.#openUntil = 0;
  }
}
