import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { CALL_DEADLINE, MAX_TRIES, Tries, TRY_TIMEOUT } from './tries.ts';

// Only the clock is held.
beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: 1_000_000 }));
afterEach(() => void vi.useRealTimers());

const pass = (ms: number) => vi.setSystemTime(Date.now() + ms);

it('gives as many tries as there are', () => {
  const tries = new Tries();
  const given = Array.from({ length: MAX_TRIES + 2 }, () => tries.next());
  expect(given).toEqual([TRY_TIMEOUT, TRY_TIMEOUT, TRY_TIMEOUT, undefined, undefined]);
});

it('cuts the last one short where the deadline is', () => {
  const tries = new Tries();
  expect(tries.next()).toBe(TRY_TIMEOUT);
  pass(TRY_TIMEOUT);
  expect(tries.next()).toBe(TRY_TIMEOUT);
  pass(TRY_TIMEOUT);
  expect(tries.next()).toBe(CALL_DEADLINE - 2 * TRY_TIMEOUT);
});

it('gives none at the deadline', () => {
  const tries = new Tries();
  pass(CALL_DEADLINE - 1);
  expect(tries.next()).toBe(1);
  expect(tries.isLate).toBe(false);
  pass(1);
  expect(tries.isLate).toBe(true);
  expect(tries.next()).toBeUndefined();
});
