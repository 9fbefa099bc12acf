/**
 * A lock in one shared word, for writers that hold it for some nanoseconds: spins a little, then sleeps.
 * A thread must never be terminated while it runs such code; let it come to its end.
 */

const FREE = 0;
const HELD = 1;
/** Held, and somebody may sleep. */
const CONTENDED = 2;

/** Attempts before a thread sleeps: some microseconds, longer than any holder needs while it runs. */
const SPINS = 200;

export class SharedLock {
  readonly #words: Int32Array;
  readonly #at: number;

  /** @param words Over a SharedArrayBuffer; the word at `at` begins as 0 and is the lock's alone. */
  constructor(words: Int32Array, at: number) {
    this.#words = words;
    this.#at = at;
  }

  /** Not reentrant. */
  acquire(): void {
    const words = this.#words;
    const at = this.#at;
    for (let i = 0; i < SPINS; i++) {
      if (Atomics.compareExchange(words, at, FREE, HELD) === FREE) return;
    }
    // Whoever slept cannot know whether others still do, so it leaves the mark for them.
    while (Atomics.exchange(words, at, CONTENDED) !== FREE) Atomics.wait(words, at, CONTENDED);
  }

  release(): void {
    if (Atomics.exchange(this.#words, this.#at, FREE) === CONTENDED) {
      Atomics.notify(this.#words, this.#at, 1);
    }
  }
}
