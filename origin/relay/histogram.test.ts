import { expect, test } from 'vitest';
import { Histogram, histogramSlots, sumHistograms } from './histogram.ts';

const BOUNDS = [1, 10, 100];

test('counts a value up to and with its bound, and what is above all bounds', () => {
  const histogram = new Histogram(BOUNDS);
  for (const value of [0, 1, 1.5, 10, 100, 101]) histogram.observe(value, 1);
  expect(histogram.counts).toEqual({ bounds: BOUNDS, counts: [2, 2, 1, 1], sum: 213.5 });
});

test('counts a value as often as it occurred', () => {
  const histogram = new Histogram(BOUNDS);
  histogram.observe(5, 3);
  expect(histogram.counts).toEqual({ bounds: BOUNDS, counts: [0, 3, 0, 0], sum: 15 });
});

test('adds up what several threads observed in shared memory', () => {
  const memory = new SharedArrayBuffer(2 * 8 * histogramSlots(BOUNDS));
  const slots = new Float64Array(memory);
  const half = histogramSlots(BOUNDS);
  const parts = [slots.subarray(0, half), slots.subarray(half)];
  parts.forEach((part, i) => new Histogram(BOUNDS, part).observe(i * 1000, 1));
  const seenElsewhere = parts.map((part) => new Histogram(BOUNDS, part));
  expect(sumHistograms(seenElsewhere)).toEqual({
    bounds: BOUNDS,
    counts: [1, 0, 0, 1],
    sum: 1000,
  });
});
