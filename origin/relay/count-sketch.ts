/**
 * How many of something each of countless owners has, in fixed memory: two rows of counters, each owner
 * in one cell of both (a count-min sketch). An answer may be too high when owners share both cells, and
 * is never too low, so that what it limits stays limited.
 */

const ROWS = 2;

/** Fewer would make owners share cells too often, however small the table. */
const MIN_CELLS = 1024;

/** Cells of a row for so many things, as many as they are owners at worst. */
export function sketchCells(things: number): number {
  return 2 ** Math.ceil(Math.log2(Math.max(MIN_CELLS, things)));
}

export function sketchBytes(cells: number): number {
  return ROWS * cells * Int32Array.BYTES_PER_ELEMENT;
}

/** To be used by one thread at a time. */
export class CountSketch {
  readonly #cells: Int32Array;
  readonly #mask: number;

  /** @param memory Of {@link sketchBytes} for some {@link sketchCells}, zero in the beginning. */
  constructor(memory: SharedArrayBuffer) {
    this.#cells = new Int32Array(memory);
    this.#mask = this.#cells.length / ROWS - 1;
  }

  /** @param owner A hash of 32 bits. */
  count(owner: number): number {
    return Math.min(this.#cells[this.#first(owner)]!, this.#cells[this.#second(owner)]!);
  }

  /** @param change 1, or -1 for what was added before. */
  add(owner: number, change: 1 | -1): void {
    this.#cells[this.#first(owner)]! += change;
    this.#cells[this.#second(owner)]! += change;
  }

  #first(owner: number): number {
    return owner & this.#mask;
  }

  #second(owner: number): number {
    const mixed = Math.imul(owner, 0x9e3779b1);
    return this.#mask + 1 + ((mixed ^ (mixed >>> 16)) & this.#mask);
  }
}
