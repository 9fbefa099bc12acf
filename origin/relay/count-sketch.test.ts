import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { CountSketch, sketchBytes, sketchCells } from './count-sketch.ts';

function newSketch(things: number): CountSketch {
  return new CountSketch(new SharedArrayBuffer(sketchBytes(sketchCells(things))));
}

/** A hash, one of many. */
function nthOwner(n: number): number {
  return Math.imul(n, 0x9e3779b1);
}

test('a count is never too low, and nothing is left when all have gone', () => {
  const owners = fc.array(fc.oneof(fc.integer(), fc.integer({ min: 0, max: 5 })));
  fc.assert(
    fc.property(owners, (list) => {
      const sketch = newSketch(1);
      const counts = new Map<number, number>();
      for (const owner of list) {
        sketch.add(owner, 1);
        counts.set(owner, (counts.get(owner) ?? 0) + 1);
      }
      for (const [owner, count] of counts) {
        expect(sketch.count(owner)).toBeGreaterThanOrEqual(count);
      }
      for (const owner of list) sketch.add(owner, -1);
      for (const owner of list) expect(sketch.count(owner)).toBe(0);
    }),
  );
});

test('few of many owners are taken for others', () => {
  const sketch = newSketch(65_536);
  // As many as can reach a limit of 256 among 65536 flows.
  for (let n = 0; n < 256; n++) for (let i = 0; i < 256; i++) sketch.add(nthOwner(n), 1);
  let mistaken = 0;
  for (let n = 256; n < 100_256; n++) if (sketch.count(nthOwner(n)) >= 256) mistaken++;
  expect(mistaken).toBeLessThan(20);
});
