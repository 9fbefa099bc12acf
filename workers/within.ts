/** A promise that settles in time. */

/** @param limit Milliseconds. @throws Error when it takes longer. */
export async function within<T>(limit: number, work: Promise<T>): Promise<T> {
  const late = new AbortController();
  const timer = scheduler.wait(limit, { signal: late.signal }).then(() => {
    throw new Error(`nothing came within ${limit} ms`);
  });
  timer.catch(() => undefined);
  try {
    return await Promise.race([work, timer]);
  } finally {
    late.abort();
  }
}
