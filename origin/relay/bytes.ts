/** Bytes compared in place, and copied. */
import { ADDRESS_LENGTH } from '../../protocol/address.ts';

function sameBytes(
  a: Uint8Array,
  aAt: number,
  b: Uint8Array,
  bAt: number,
  length: number,
): boolean {
  for (let i = 0; i < length; i++) if (a[aAt + i] !== b[bAt + i]) return false;
  return true;
}

export function sameAddress(a: Uint8Array, aAt: number, b: Uint8Array, bAt: number): boolean {
  return sameBytes(a, aAt, b, bAt, ADDRESS_LENGTH);
}

/** Always a copy: a Buffer's own slice is a view. */
export function copyBytes(bytes: Uint8Array, start: number, end: number): Uint8Array {
  return Uint8Array.from(bytes.subarray(start, end));
}
