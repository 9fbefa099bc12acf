import { expect, test } from 'vitest';
import { growthRate } from './growth.ts';

test('a steady growth is seen, and one jump is none', () => {
  const steady = Array.from({ length: 10 }, (_, x) => [x, 3 * x + 7] as const);
  expect(growthRate(steady)).toBeCloseTo(3);
  const jump = Array.from({ length: 20 }, (_, x) => [x, x === 11 ? 5000 : 7] as const);
  expect(growthRate(jump)).toBe(0);
});

test('one reading tells no growth', () => {
  expect(growthRate([])).toBe(0);
  expect(growthRate([[1, 2]])).toBe(0);
});
