/**
 * Time as a relay needs it: sessions end by the wall clock, while ages and waits count on a steady one
 * that nobody sets.
 */
import { clock32 } from './flow.ts';

/** One moment, in milliseconds. */
export interface Moment {
  /** Since the Unix epoch. */
  readonly wall: number;
  /** As {@link clock32} of {@link steadyNow}: a small integer is handed on without being put on the heap. */
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
  steady = clock32(steadyNow());

  read(): Moment {
    this.wall = Date.now();
    this.steady = clock32(steadyNow());
    return this;
  }
}

function sinceBoot(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1e3 + nanoseconds / 1e6;
}
