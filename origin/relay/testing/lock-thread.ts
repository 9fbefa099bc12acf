/** A thread that counts under a lock, in the plainest and least safe way. */
import { parentPort, workerData } from 'node:worker_threads';
import { SharedLock } from '../shared-lock.ts';

export interface LockThreadData {
  /** The lock's word and the counter. */
  readonly memory: SharedArrayBuffer;
  readonly times: number;
}

const { memory, times }: LockThreadData = workerData;
const words = new Int32Array(memory);
const lock = new SharedLock(words, 0);
for (let i = 0; i < times; i++) {
  lock.acquire();
  words[1] = words[1]! + 1;
  lock.release();
}
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a port, not a window
parentPort?.postMessage('done');
