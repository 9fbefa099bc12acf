import { expect, test } from 'vitest';
import { CALLS_PER_MINUTE, CAP, LEAST_CALLS, planSoak } from './plan.ts';

test.each([
  [LEAST_CALLS, 20],
  [2000, 20],
  [1234, 50],
  [LEAST_CALLS, 1],
])('%i calls at %i a second come evenly, and as many as were asked for', (calls, rate) => {
  const at = planSoak(calls, rate).flatMap((group) => group.at);
  expect(at).toHaveLength(calls);
  expect(at).toEqual(Array.from({ length: calls }, (_, i) => (i * 1000) / rate));
});

test('the shortest soak has every kind of call', () => {
  const kinds = planSoak(LEAST_CALLS, 20).map(({ kind }) => kind);
  expect(new Set(kinds)).toEqual(new Set(['capped', 'left', 'limited', 'free']));
});

/** Milliseconds between the starts of groups of a kind. */
function gaps(kind: string): number[] {
  const groups = planSoak(4000, 20).filter((group) => group.kind === kind);
  const starts = groups.map(({ at }) => at[0]!);
  return starts.slice(1).map((at, i) => at - starts[i]!);
}

test('calls that nobody ends have the time to end, and limits that to begin anew', () => {
  expect(gaps('left').length).toBeGreaterThan(1);
  expect(Math.min(...gaps('left'))).toBeGreaterThanOrEqual(35_000);
  expect(Math.min(...gaps('limited'))).toBeGreaterThanOrEqual(59_000);
  expect(CAP).toBeLessThan(CALLS_PER_MINUTE);
});
