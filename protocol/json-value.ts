/** What JSON from outside must be before it is looked into: objects that are no lists, and not too deep. */
import * as v from 'valibot';

/** Objects and lists within one another; deeper ones overflow the stack of whoever writes them as JSON. */
export const MAX_JSON_DEPTH = 128;

/** Whether objects and lists nest at most so deep. Total: goes no deeper itself. */
export function nestsWithin(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return depth > 0 && Object.values(value).every((it) => nestsWithin(it, depth - 1));
}

/** A schema of objects takes lists for objects; this one does not. */
export function jsonObject<S extends v.GenericSchema>(schema: S) {
  return v.pipe(
    v.unknown(),
    v.check((value) => !Array.isArray(value), 'is a list and no object'),
    schema,
  );
}
