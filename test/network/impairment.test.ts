/** A seed decides, so that shares here are exact in their way: another seed has to stay within the bounds too. */
import { describe, expect, test } from 'vitest';
import { HELD_BACK, Impairment, QUEUE, type ImpairmentOptions } from './impairment.ts';

const PACKETS = 20_000;
const BYTES = 200;

/** Milliseconds between two packets of Opus. */
const INTERVAL = 20;

/** Arrivals of packets that are sent one after another. */
function send(options: ImpairmentOptions, seed = 1, interval = INTERVAL) {
  const impairment = new Impairment(options, seed);
  const arrivals = Array.from({ length: PACKETS }, (_, i) => {
    return impairment.arrivals(BYTES, i * interval);
  });
  return { impairment, arrivals };
}

function share(count: number): number {
  return count / PACKETS;
}

test('without impairments, each packet comes once and at once', () => {
  const { arrivals } = send({});
  expect(arrivals).toEqual(arrivals.map((_, i) => [i * INTERVAL]));
});

test('a seed gives the same again, and another one something else', () => {
  const options = { loss: 0.05, jitter: 30, reordered: 0.02, duplicated: 0.01 };
  expect(send(options, 7).arrivals).toEqual(send(options, 7).arrivals);
  expect(send(options, 7).arrivals).not.toEqual(send(options, 8).arrivals);
});

describe.each([1, 2, 3])('with seed %i', (seed) => {
  test.each([0.01, 0.05, 0.3])('the share %d is lost', (loss) => {
    const { impairment, arrivals } = send({ loss }, seed);
    const lost = arrivals.filter(({ length }) => length === 0).length;
    expect(impairment.counts).toMatchObject({ packets: PACKETS, lost });
    expect(share(lost)).toBeGreaterThan(0.8 * loss);
    expect(share(lost)).toBeLessThan(1.2 * loss);
  });

  test.each([0.01, 0.1])('the share %d comes twice', (duplicated) => {
    const { impairment, arrivals } = send({ duplicated, jitter: 10 }, seed);
    const twice = arrivals.filter(({ length }) => length === 2);
    expect(impairment.counts.duplicated).toBe(twice.length);
    expect(share(twice.length)).toBeGreaterThan(0.8 * duplicated);
    expect(share(twice.length)).toBeLessThan(1.2 * duplicated);
    expect(twice.every(([first, second]) => second! >= first! && second! < first! + 10)).toBe(true);
  });

  test.each([0.02, 0.2])('the share %d comes behind later ones', (reordered) => {
    const { impairment, arrivals } = send({ reordered }, seed);
    const late = arrivals.filter(([arrival], i) => arrival === i * INTERVAL + HELD_BACK);
    expect(impairment.counts.reordered).toBe(late.length);
    expect(share(late.length)).toBeGreaterThan(0.8 * reordered);
    expect(share(late.length)).toBeLessThan(1.2 * reordered);
    expect(HELD_BACK).toBeGreaterThan(2 * INTERVAL);
  });

  test('jitter takes all of its range, and lets no packet overtake another', () => {
    const { arrivals } = send({ delay: 100, jitter: 60 }, seed);
    const times = arrivals.map(([arrival]) => arrival!);
    expect(times).toEqual(times.toSorted((a, b) => a - b));
    const delays = times.map((time, i) => time - i * INTERVAL);
    expect(Math.min(...delays)).toBeGreaterThanOrEqual(100);
    expect(Math.min(...delays)).toBeLessThan(105);
    expect(Math.max(...delays)).toBeLessThan(160);
    expect(Math.max(...delays)).toBeGreaterThan(155);
  });
});

test('a rate passes no more bits than it says, and holds no more than its queue', () => {
  const rate = 64_000;
  // Twice as much as fits.
  const interval = (BYTES * 8 * 1000) / (2 * rate);
  const { impairment, arrivals } = send({ rate }, 1, interval);
  const passed = arrivals.flat();
  const seconds = passed.at(-1)! / 1000;
  expect((passed.length * BYTES * 8) / seconds).toBeCloseTo(rate, -3);
  expect(share(impairment.counts.overflowed)).toBeCloseTo(0.5, 1);
  const waits = arrivals.flatMap((it, i) => it.map((arrival) => arrival - i * interval));
  expect(Math.max(...waits)).toBeLessThanOrEqual(QUEUE + 2 * interval);
});

test('nothing passes while it is cut, and all does afterwards', () => {
  const impairment = new Impairment({}, 1);
  impairment.isCut = true;
  expect(impairment.arrivals(BYTES, 0)).toEqual([]);
  impairment.isCut = false;
  expect(impairment.arrivals(BYTES, 1)).toEqual([1]);
  expect(impairment.counts).toMatchObject({ packets: 2, cut: 1, lost: 0 });
});
