import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import {
  UNPROVEN_PACKETS,
  UNPROVEN_PROBES,
  UNPROVEN_REFILL,
  UnprovenBudget,
} from './unproven-budget.ts';

beforeEach(() => vi.useFakeTimers({ toFake: ['performance'] }));
afterEach(() => vi.useRealTimers());

/** How many are given until one is not. */
function drained(take: () => boolean): number {
  let taken = 0;
  while (taken <= UNPROVEN_PACKETS && take()) taken++;
  return taken;
}

test('media leaves some for our checks', () => {
  const budget = new UnprovenBudget();
  expect(drained(() => budget.takePacket())).toBe(UNPROVEN_PACKETS - UNPROVEN_PROBES);
  expect(drained(() => budget.takeProbe())).toBe(UNPROVEN_PROBES);
});

test('it comes back slowly, and never to more than at first', () => {
  const budget = new UnprovenBudget();
  drained(() => budget.takeProbe());
  vi.advanceTimersByTime(5_000);
  expect(drained(() => budget.takePacket())).toBe(0);
  expect(drained(() => budget.takeProbe())).toBe(5 * UNPROVEN_REFILL);
  vi.advanceTimersByTime(3_600_000);
  expect(drained(() => budget.takeProbe())).toBe(UNPROVEN_PACKETS);
});
