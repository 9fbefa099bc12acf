import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { JitterBuffer, MAX_HELD, MAX_WAIT, MIN_WAIT } from './jitter-buffer.ts';

const PTIME = 20;

function packetOf(sequence: number) {
  return {
    payload: Uint8Array.of(sequence & 0xff),
    sequenceNumber: sequence & 0xffff,
    timestamp: (sequence * PTIME * 48) >>> 0,
    marker: false,
  };
}

/** What comes out when packets arrive in that order, each at its millisecond. */
function play(arrivals: readonly (readonly [sequence: number, at: number])[], until: number) {
  const buffer = new JitterBuffer(48);
  const out: { sequence: number; lost: number; at: number }[] = [];
  let next = 0;
  for (let now = 0; now <= until; now++) {
    for (; arrivals[next] && arrivals[next]![1] <= now; next++) {
      buffer.push(packetOf(arrivals[next]![0]), now);
    }
    for (let it = buffer.pull(now); it; it = buffer.pull(now)) {
      out.push({ sequence: it.packet.sequenceNumber, lost: it.lost, at: now });
    }
  }
  return { out, buffer };
}

test('packets in order leave as they come', () => {
  const { out } = play(
    [65_534, 65_535, 65_536, 65_537].map((it, i) => [it, i * PTIME]),
    100,
  );
  expect(out.map(({ sequence }) => sequence)).toEqual([65_534, 65_535, 0, 1]);
  expect(out.map(({ at }) => at)).toEqual([0, 20, 40, 60]);
});

test('a packet that others overtook is put back in its place', () => {
  const { out, buffer } = play(
    [
      [0, 0],
      [2, 40],
      [1, 45],
      [3, 60],
    ],
    200,
  );
  expect(out.map(({ sequence, lost }) => [sequence, lost])).toEqual([
    [0, 0],
    [1, 0],
    [2, 0],
    [3, 0],
  ]);
  expect(buffer.counters).toEqual({ lost: 0, late: 0 });
});

test('what does not come in time is lost, and late when it comes', () => {
  const { out, buffer } = play(
    [
      [0, 0],
      [3, 60],
      [1, 160],
      [4, 161],
    ],
    300,
  );
  expect(out.map(({ sequence, lost }) => [sequence, lost])).toEqual([
    [0, 0],
    [3, 2],
    [4, 0],
  ]);
  expect(out[1]!.at).toBeGreaterThanOrEqual(60 + MIN_WAIT);
  expect(out[1]!.at).toBeLessThanOrEqual(60 + MAX_WAIT);
  expect(buffer.counters).toEqual({ lost: 2, late: 1 });
});

test('it waits longer on an uneven network, within its bounds', () => {
  const even = play(
    Array.from({ length: 100 }, (_, i) => [i, i * PTIME] as const),
    2_000,
  );
  const uneven = play(
    Array.from({ length: 100 }, (_, i) => [i, i * PTIME + (i % 2) * 19] as const),
    2_000,
  );
  expect(even.buffer.wait).toBeLessThan(MIN_WAIT + 1);
  expect(uneven.buffer.wait).toBeGreaterThan(even.buffer.wait + 10);
  expect(uneven.buffer.wait).toBeLessThanOrEqual(MAX_WAIT);
});

test('a sender that starts anew is followed', () => {
  const { out } = play(
    [
      [30_000, 0],
      [5, 20],
      [6, 40],
    ],
    100,
  );
  expect(out.map(({ sequence, lost }) => [sequence, lost])).toEqual([
    [30_000, 0],
    [5, 0],
    [6, 0],
  ]);
});

test('it holds a bounded number of packets', () => {
  const buffer = new JitterBuffer(48);
  buffer.push(packetOf(0), 0);
  buffer.pull(0);
  for (let i = 2; i < 2 + MAX_HELD; i++) buffer.push(packetOf(i), 0);
  expect(buffer.pull(0)).toMatchObject({ lost: 1 });
});

test('whatever comes, each packet leaves once and in order', () => {
  const arrivals = fc.array(fc.tuple(fc.integer({ min: 0, max: 80 }), fc.nat(30)), {
    maxLength: 200,
  });
  fc.assert(
    fc.property(fc.nat(65_535), arrivals, (base, steps) => {
      let at = 0;
      const { out, buffer } = play(
        steps.map(([sequence, step]) => [base + sequence, (at += step)] as const),
        at + 200,
      );
      const order = out.map(({ sequence }) => (sequence - base) & 0xffff);
      for (let i = 1; i < order.length; i++) {
        expect(((order[i]! - order[i - 1]!) << 16) >> 16).toBeGreaterThan(0);
      }
      expect(out.length + buffer.counters.late).toBe(steps.length);
    }),
  );
});
