/**
 * Time as a relay needs it: sessions end by the wall clock, while ages and waits count on a steady one
 * that nobody sets.
 */

/** One moment, in milliseconds. */
export interface Moment {
  /** Since the Unix epoch. */
  readonly wall: number;
  /** As {@link steadyNow} gives it. */
  readonly steady: number;
}

/** A thread's own `performance.now()` begins with the thread; this clock is all threads'. */
const THREAD_START = sinceBoot() - performance.now();

/** Milliseconds of a clock that never goes back, the same in all threads but for some microseconds. */
export function steadyNow(): number {
  return THREAD_START + performance.now();
}

/** The moment of the last reading; the same object each time. */
export class Clock implements Moment {
  wall = Date.now();
  steady = steadyNow();

  read(): Moment {
    this.wall = Date.now();
    this.steady = steadyNow();
    return this;
  }
}

function sinceBoot(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1e3 + nanoseconds / 1e6;
}
