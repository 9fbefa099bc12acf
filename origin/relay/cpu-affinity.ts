/** Which processors a thread may run on. */
import { errorCode, libc } from './libc.ts';

/** Bytes of a set of 1024 processors, as the C library has it. */
const CPU_SET_LENGTH = 128;

/** The processors this thread may use, which a container may have narrowed. */
export function allowedCpus(): number[] {
  const set = new Uint8Array(CPU_SET_LENGTH);
  if (libc().sched_getaffinity(0, set.length, set) < 0) return [];
  return Array.from({ length: set.length * 8 }, (_, cpu) => cpu).filter(
    (cpu) => ((set[cpu >> 3]! >> (cpu & 7)) & 1) === 1,
  );
}

/** Keeps the calling thread on one processor. */
export function pinThread(cpu: number): void {
  const set = new Uint8Array(CPU_SET_LENGTH);
  set[cpu >> 3] = 1 << (cpu & 7);
  if (libc().sched_setaffinity(0, set.length, set) < 0) {
    throw new Error(`Cannot keep a relay thread on processor ${cpu}: ${errorCode()}.`);
  }
}
