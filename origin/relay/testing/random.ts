/** Pseudo-random numbers that a seed gives again: xorshift128 (Marsaglia 2003, "Xorshift RNGs", §4). */

/** Bytes that are made once and then taken from anywhere, which is faster than making them anew. */
const POOL_LENGTH = 64 * 1024;

/** Numbers passed over at first: those after a seed of few bits are small. */
const WARM_UP = 16;

export class Random {
  #x: number;
  #y = 362_436_069;
  #z = 521_288_629;
  #w = 88_675_123;
  readonly #pool = Buffer.alloc(POOL_LENGTH);

  /** @param seed 32 bits. */
  constructor(seed: number) {
    this.#x = seed ^ 123_456_789;
    for (let i = 0; i < WARM_UP; i++) this.next();
    for (let i = 0; i < POOL_LENGTH; i += 4) this.#pool.writeUInt32LE(this.next(), i);
  }

  /** 32 bits. */
  next(): number {
    const t = this.#x ^ (this.#x << 11);
    this.#x = this.#y;
    this.#y = this.#z;
    this.#z = this.#w;
    this.#w = this.#w ^ (this.#w >>> 19) ^ t ^ (t >>> 8);
    return this.#w >>> 0;
  }

  /** From 0 to `count - 1`. */
  below(count: number): number {
    return Math.floor((this.next() / 2 ** 32) * count);
  }

  /** Mostly small, seldom up to `count - 1`. */
  skewed(count: number): number {
    return this.below(1 + this.below(count));
  }

  /** True once in `count` times. */
  once(count: number): boolean {
    return this.below(count) === 0;
  }

  pick<T>(choices: readonly T[]): T {
    return choices[this.below(choices.length)]!;
  }

  /** Fills `out` from `start` to `end`, of at most 64 kB. */
  fill(out: Uint8Array, start: number, end: number): void {
    const from = this.below(POOL_LENGTH - (end - start) + 1);
    this.#pool.copy(out, start, from, from + end - start);
  }
}
