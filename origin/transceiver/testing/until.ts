/** Waits for what a test expects to happen. */
import { setTimeout as sleep } from 'node:timers/promises';

/** Milliseconds between two looks. */
const INTERVAL = 10;

/** Resolves with the first value that is neither undefined nor false; the test's own timeout bounds it. */
export async function until<T>(
  look: () => T | undefined | false | Promise<T | undefined | false>,
): Promise<T> {
  for (;;) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
    await sleep(INTERVAL);
  }
}
