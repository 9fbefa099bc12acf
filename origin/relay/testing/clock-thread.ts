/** A thread that says what time it is for it. */
import { parentPort } from 'node:worker_threads';
import { steadyNow } from '../moment.ts';

// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a port, not a window
parentPort?.postMessage(steadyNow());
