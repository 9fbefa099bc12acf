import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { DelayLine } from './delay-line.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }));
afterEach(() => void vi.useRealTimers());

/** A line, what it has done, and the time it counts from. */
function lineWithDone() {
  const line = new DelayLine();
  const done: string[] = [];
  const start = performance.now();
  const add = (name: string, after: number) => line.add(start + after, () => done.push(name));
  return { line, done, add };
}

test('what is due is done at once, the rest in its time and order', () => {
  const { done, add } = lineWithDone();
  add('late', 30);
  add('now', 0);
  add('early', 10.2);
  add('just behind early', 10.4);
  add('as late', 30);
  expect(done).toEqual(['now']);
  vi.advanceTimersByTime(11);
  expect(done).toEqual(['now', 'early', 'just behind early']);
  vi.advanceTimersByTime(18);
  expect(done).toHaveLength(3);
  vi.advanceTimersByTime(2);
  expect(done).toEqual(['now', 'early', 'just behind early', 'late', 'as late']);
});

test('after its end, nothing is done', () => {
  const { line, done, add } = lineWithDone();
  add('never', 10);
  line[Symbol.dispose]();
  vi.advanceTimersByTime(100);
  expect(done).toEqual([]);
  expect(vi.getTimerCount()).toBe(0);
});
