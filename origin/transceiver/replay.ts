/** The index of an SRTP packet, guessed and guarded against replay (RFC 3711 §3.3.1, §3.3.2). */

/** Packets behind the newest one that may still arrive. */
export const REPLAY_WINDOW = 128;

const HALF = 0x8000;
const ROUND = 0x1_00_00;
const WORD_BITS = 32;
const WORDS = REPLAY_WINDOW / WORD_BITS;

export class ReplayWindow {
  /** 48-bit index of the newest packet; -1 before the first. */
  #newest = -1;
  /** A bit for each index of the window, at its index modulo the window's length. */
  readonly #seen = new Uint32Array(WORDS);

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
    const at = index % REPLAY_WINDOW;
    return behind < REPLAY_WINDOW && ((this.#seen[at >>> 5]! >>> (at & 31)) & 1) === 0;
  }

  /** Takes note of an authenticated packet that is new. True when it is the newest. */
  accept(index: number): boolean {
    const ahead = index - this.#newest;
    if (ahead >= REPLAY_WINDOW || this.#newest < 0) this.#seen.fill(0);
    else for (let i = this.#newest + 1; i < index; i++) this.#set(i, false);
    this.#set(index, true);
    if (ahead <= 0) return false;
    this.#newest = index;
    return true;
  }

  #set(index: number, seen: boolean): void {
    const at = index % REPLAY_WINDOW;
    const bit = 1 << (at & 31);
    if (seen) this.#seen[at >>> 5]! |= bit;
    else this.#seen[at >>> 5]! &= ~bit;
  }
}
