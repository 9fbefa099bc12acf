/** The index of an SRTP packet, guessed and guarded against replay (RFC 3711 §3.3.1, §3.3.2). */

/** Packets behind the newest one that may still arrive. */
export const REPLAY_WINDOW = 64;

const HALF = 0x8000;
const ROUND = 0x1_00_00;

export class ReplayWindow {
  /** 48-bit index of the newest packet; -1 before the first. */
  #newest = -1;
  /** Bit i stands for the packet i behind the newest. */
  #seen = 0n;

  /** The likely index of a sequence number: the one nearest to the newest packet. */
  guess(sequence: number): number {
    if (this.#newest < 0) return sequence;
    const rollover = Math.floor(this.#newest / ROUND);
    const distance = sequence - (this.#newest % ROUND);
    if (distance < -HALF) return (rollover + 1) * ROUND + sequence;
    if (distance > HALF && rollover > 0) return (rollover - 1) * ROUND + sequence;
    return rollover * ROUND + sequence;
  }

  /** False when the packet came before or is too old to tell. */
  isNew(index: number): boolean {
    const behind = this.#newest - index;
    if (behind < 0) return true;
    return behind < REPLAY_WINDOW && ((this.#seen >> BigInt(behind)) & 1n) === 0n;
  }

  /** Takes note of an authenticated packet. True when it is the newest. */
  accept(index: number): boolean {
    const ahead = index - this.#newest;
    if (ahead <= 0) {
      this.#seen |= 1n << BigInt(-ahead);
      return false;
    }
    const shifted = ahead >= REPLAY_WINDOW || this.#newest < 0 ? 0n : this.#seen << BigInt(ahead);
    this.#seen = BigInt.asUintN(REPLAY_WINDOW, shifted) | 1n;
    this.#newest = index;
    return true;
  }
}
