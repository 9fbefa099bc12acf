/** A slice of `npm run soak`: every kind of call, and nothing lost or left. */
import { expect, test } from 'vitest';
import { CALLS_PER_MINUTE, CAP, LEAST_CALLS } from '../bench/soak/plan.ts';
import { soak } from '../bench/soak/soak.ts';

/** Calls a second; fewer than the whole soak's, for here it is one test among others. */
const RATE = 10;

test('of many calls none is lost, limits hold to the call, and nothing is left', async () => {
  const result = await soak({ calls: LEAST_CALLS, rate: RATE, log: () => undefined });
  const { taken, refused, misses } = result;
  expect(misses).toEqual([]);
  expect(taken).toMatchObject({ capped: CAP, left: CAP });
  expect(refused).toMatchObject({ free: 0, capped: CAP, left: CAP });
  expect(taken.limited).toBeGreaterThanOrEqual(CALLS_PER_MINUTE);
  const all = [...Object.values(taken), ...Object.values(refused)];
  expect(all.reduce((sum, count) => sum + count, 0)).toBe(LEAST_CALLS);
});
