/** Calls into code that is not ours, such as a back end. */

/**
 * Calls, and hands what is thrown to `failed`; so too what a promise rejects with, as an async method
 * fits a type that returns nothing and its rejection would end the process.
 */
export function guarded<T>(call: () => T, failed: (error: unknown) => void): T | undefined {
  try {
    const result = call();
    if (isThenable(result)) result.then(undefined, failed);
    return result;
  } catch (error) {
    failed(error);
    return undefined;
  }
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  if (typeof value !== 'object' || value === null) return false;
  return 'then' in value && typeof value.then === 'function';
}
