/** What this process holds. */
import process from 'node:process';

/** Bytes; `heap` is the main thread's. */
export interface UsedMemory {
  readonly heap: number;
  readonly resident: number;
}

/** Collects garbage first where Node was started with --expose-gc. */
export function usedMemory(): UsedMemory {
  globalThis.gc?.();
  const { heapUsed, rss } = process.memoryUsage();
  return { heap: heapUsed, resident: rss };
}
