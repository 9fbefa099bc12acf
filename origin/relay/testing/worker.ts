/** Threads of a test. */
import { Worker } from 'node:worker_threads';

/** Runs a file of this folder as a thread; what it posts is its result. */
export async function runThread<Result>(file: string, workerData: unknown): Promise<Result> {
  const worker = new Worker(new URL(file, import.meta.url), { workerData });
  const { promise, resolve, reject } = Promise.withResolvers<Result>();
  worker.once('message', resolve);
  worker.once('error', reject);
  worker.once('exit', () => reject(new Error(`${file} ended without a result`)));
  return promise;
}
