/**
 * What a session may send where nobody has shown to receive, be it one address or many. A client that
 * moves needs a round trip of it; a victim of a client that spoofs gets no more than this.
 */

/** Packets that may go out at once: two seconds of audio. */
export const UNPROVEN_PACKETS = 100;

/** Of them, those kept for checks of our own, or media would leave none to prove a path with. */
export const UNPROVEN_PROBES = 20;

/** Packets that come back each second. */
export const UNPROVEN_REFILL = 1;

export class UnprovenBudget {
  #left = UNPROVEN_PACKETS;
  #at = performance.now();

  /** False when the packet must not be sent. */
  takePacket(): boolean {
    return this.#take(UNPROVEN_PROBES);
  }

  /** False when the check must not be sent. */
  takeProbe(): boolean {
    return this.#take(0);
  }

  #take(kept: number): boolean {
    const now = performance.now();
    const back = ((now - this.#at) / 1000) * UNPROVEN_REFILL;
    this.#left = Math.min(UNPROVEN_PACKETS, this.#left + back);
    this.#at = now;
    if (this.#left < kept + 1) return false;
    this.#left--;
    return true;
  }
}
