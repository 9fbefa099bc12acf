import { expect, test } from 'vitest';
import { WaitingEvents } from './waiting-events.ts';

test('events wait in order, and are few', () => {
  const waiting = new WaitingEvents();
  const added = Array.from({ length: 100 }, (_, i) => waiting.add(`${i}`));
  expect(added.filter(Boolean)).toHaveLength(64);
  expect(waiting.take()).toEqual(Array.from({ length: 64 }, (_, i) => `${i}`));
  expect(waiting.take()).toEqual([]);
  expect(waiting.add('again')).toBe(true);
});

test('large events are fewer', () => {
  const waiting = new WaitingEvents();
  const large = 'x'.repeat(256 * 1024);
  expect([1, 2, 3].map(() => waiting.add(large))).toEqual([true, true, false]);
  expect(waiting.add('x'.repeat(4 * 1024 * 1024))).toBe(false);
  expect(waiting.take()).toHaveLength(2);
  expect(waiting.add(large)).toBe(true);
});
