/** Comparisons of bytes in place, without a view. */
import { ADDRESS_LENGTH } from '../../protocol/address.ts';

export function sameBytes(
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
