import { expect, test } from 'vitest';
import { KeyedHash } from './keyed-hash.ts';

/** HalfSipHash-1-3 of the bytes 0, 1, 2 and so on, by their number: Linux, lib/test_siphash.c. */
const VECTORS: [number, number][] = [
  [0, 0x5814c896],
  [4, 0x7e059ea6],
  [8, 0x577999b1],
  [12, 0x6b28096c],
  [16, 0x8b31d501],
  [20, 0x911bb605],
  [24, 0x57150ad7],
  [28, 0x0a4100d0],
];

const KEY = Int32Array.of(0, 0x03020100, 0x07060504);

test.each(VECTORS)('%i bytes', (length, expected) => {
  const bytes = Uint8Array.from({ length: length + 3 }, (_, i) => i - 3);
  const hash = new KeyedHash(KEY, 1);
  expect(hash.bytes(bytes, 3, length) >>> 0).toBe(expected);
  const words = new Int32Array(1 + length / 4);
  const view = new DataView(bytes.buffer);
  for (let i = 0; i < length / 4; i++) words[1 + i] = view.getInt32(3 + i * 4, true);
  expect(hash.words(words, 1, length / 4) >>> 0).toBe(expected);
});
