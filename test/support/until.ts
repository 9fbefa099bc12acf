/** Waits for what a real system does in its own time. */
import { setTimeout as delay } from 'node:timers/promises';

/** Milliseconds between two looks. */
const INTERVAL = 50;

/**
 * Looks until `look` gives something, and returns it. It has no limit of its own: the test's time-out
 * ends it, and what was awaited stands in the test's name and in `look`.
 */
export async function until<T>(
  look: () => Promise<T | undefined | false> | T | undefined | false,
): Promise<T> {
  for (;;) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
    await delay(INTERVAL);
  }
}
