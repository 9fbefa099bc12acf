/** Ticks once per frame without drift: every tick is counted from the start, not from the last one. */
import { FRAME_MS } from './codec.ts';

/** Frames made up for at once after the process was held up; older ones are skipped. */
const MAX_BURST = 5;

export class FrameClock {
  readonly #tick: (frame: number) => void;
  readonly #start = performance.now();
  #next = 0;
  #timer: NodeJS.Timeout | undefined;

  /** @param tick Called with the number of the frame, which grows by more than 1 where some were skipped. */
  constructor(tick: (frame: number) => void) {
    this.#tick = tick;
    this.#run();
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#next = Infinity;
  }

  #run(): void {
    const due = Math.floor((performance.now() - this.#start) / FRAME_MS);
    this.#next = Math.max(this.#next, due - MAX_BURST + 1);
    while (this.#next <= due) this.#tick(this.#next++);
    if (this.#next === Infinity) return;
    const wait = this.#start + this.#next * FRAME_MS - performance.now();
    this.#timer = setTimeout(() => this.#run(), Math.max(0, Math.ceil(wait)));
  }
}
