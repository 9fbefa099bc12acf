/**
 * Ends flows whose time is over, a slice of the table at a time. A flow that is over counts as gone at
 * once, wherever it is looked up; the sweep only gives its place back.
 */
import { EXPIRED_TOTAL, HIGHEST } from './flow-memory.ts';
import type { FlowStore } from './flow-store.ts';
import { FLOW_WORDS, clock32 } from './flow.ts';
import type { SharedLock } from './shared-lock.ts';

/** Milliseconds in which slices cover the whole table. */
export const SWEEP_ROUND = 2_000;

/** Flows looked at in a slice at least, so that a small table is done at once. */
export const SMALLEST_SLICE = 1024;

export class FlowSweep {
  readonly #store: FlowStore;
  readonly #lock: SharedLock;
  #sweptAt = 0;
  /** The flow number looked at last. */
  #hand = 0;

  constructor(store: FlowStore, lock: SharedLock) {
    this.#store = store;
    this.#lock = lock;
  }

  /** Sweeps as much as is due since the last time. */
  run(now: number): void {
    const now32 = clock32(now);
    while (this.#end(this.#store.oldestTentative, now32));

    const highest = this.#store.control[HIGHEST]!;
    const due = Math.ceil((highest * (now - this.#sweptAt)) / SWEEP_ROUND);
    this.#sweptAt = now;
    for (let left = Math.min(highest, Math.max(due, SMALLEST_SLICE)); left > 0; left--) {
      this.#hand = this.#hand >= highest ? 1 : this.#hand + 1;
      this.#end(this.#hand * FLOW_WORDS, now32);
    }
  }

  /** Holds the lock for one flow at a time, so that no packet waits for more. */
  #end(place: number, now32: number): boolean {
    if (place === 0 || !this.#store.isOver(place, now32)) return false;
    this.#lock.acquire();
    try {
      if (!this.#store.isOver(place, now32)) return false;
      this.#store.remove(place);
      this.#store.totals[EXPIRED_TOTAL]! += 1;
      return true;
    } finally {
      this.#lock.release();
    }
  }
}
