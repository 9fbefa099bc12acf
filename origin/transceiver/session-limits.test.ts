import { expect, test } from 'vitest';
import { DEFAULT_LIMITS, passedLimit, type SessionClock } from './session-limits.ts';

const LIMITS = { setup: 10, idle: 20, length: 100 };
const NOW = Date.now();
const fine: SessionClock = {
  connected: true,
  age: 50,
  quiet: 0,
  expiresAt: NOW + 3_600_000,
  hasConsent: true,
};

test.each([
  [{}, undefined],
  [{ connected: false, age: 10 }, undefined],
  [{ connected: false, age: 11 }, 'setup-timeout'],
  [{ connected: false, age: 9, quiet: 9_999 }, undefined],
  [{ quiet: 20 }, undefined],
  [{ quiet: 21 }, 'idle'],
  [{ age: 100 }, undefined],
  [{ age: 101 }, 'max-length'],
  [{ hasConsent: false }, 'consent-expired'],
  [{ expiresAt: NOW - 1 }, 'expired'],
] as const)('%j: %s', (change, reason) => {
  expect(passedLimit({ ...fine, ...change }, LIMITS)).toBe(reason);
});

test('an ordinary call passes no limit', () => {
  expect(passedLimit({ ...fine, age: 600_000, quiet: 400 }, DEFAULT_LIMITS)).toBeUndefined();
});
