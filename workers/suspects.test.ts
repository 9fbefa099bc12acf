import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { SUSPECT_FOR, Suspects } from './suspects.ts';

// Only the clock is held.
beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: 1_000_000 }));
afterEach(() => void vi.useRealTimers());

describe('Suspects', () => {
  it.each(['timeout', 'unreachable', 'lost', 'bad-answer'] as const)(
    'suspects the cluster, and no other, after %s, and not for ever',
    (outcome) => {
      const suspects = new Suspects();
      suspects.note(1, outcome);
      expect([suspects.has(1), suspects.has(2)]).toEqual([true, false]);
      vi.setSystemTime(Date.now() + SUSPECT_FOR - 1);
      expect(suspects.has(1)).toBe(true);
      vi.setSystemTime(Date.now() + 1);
      expect(suspects.has(1)).toBe(false);
    },
  );

  it.each(['created', 'refused', 'busy'] as const)('trusts it again after %s', (outcome) => {
    const suspects = new Suspects();
    suspects.note(1, 'timeout');
    suspects.note(1, outcome);
    expect(suspects.has(1)).toBe(false);
  });
});
