import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { REPLAY_WINDOW, ReplayWindow } from './replay.ts';

test('each index is new once', () => {
  const window = new ReplayWindow();
  for (const index of [5, 7, 6]) {
    expect(window.isNew(index)).toBe(true);
    expect(window.accept(index)).toBe(index !== 6);
    expect(window.isNew(index)).toBe(false);
  }
  window.accept(7 + REPLAY_WINDOW);
  expect(window.isNew(8)).toBe(true);
  expect(window.isNew(7)).toBe(false);
});

test('the guess follows the sequence over many rounds, with loss and disorder', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: -30, max: 30_000 }), { maxLength: 60 }), (steps) => {
      const window = new ReplayWindow();
      let index = 40_000;
      window.accept(window.guess(index));
      for (const step of steps) {
        const next = Math.max(0, index + step);
        expect(window.guess(next % 0x10000)).toBe(next);
        window.accept(next);
        index = Math.max(index, next);
      }
    }),
  );
});
