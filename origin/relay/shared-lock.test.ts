import { expect, test } from 'vitest';
import type { LockThreadData } from './testing/lock-thread.ts';
import { runThread } from './testing/worker.ts';

test('threads that count under the lock lose nothing', async () => {
  const memory = new SharedArrayBuffer(8);
  const data: LockThreadData = { memory, times: 300_000 };
  await Promise.all([1, 2, 3].map(() => runThread('./lock-thread.ts', data)));
  const [lock, count] = new Int32Array(memory);
  expect(count).toBe(3 * data.times);
  expect(lock).toBe(0);
}, 120_000);
