/** Numbers that must fit a field of a fixed width. */

/** @throws RangeError that names the field, its bounds and the value. */
export function requireInteger(name: string, value: number, min: number, max: number): void {
  if (!Number.isInteger(value) || value < min || value > max) {
    throw new RangeError(`${name} must be a whole number from ${min} to ${max}, not ${value}`);
  }
}
