// In what order clusters are tried, and which of them share the load.
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { SteeringCluster } from '../protocol/footprint.ts';
import type { Place } from './client-place.ts';
import { distanceKm, NEAREST, steer, steeringIndex } from './steering.ts';
import { testTable } from './testing/steering-table.ts';

const FRANKFURT = { latitude: '50.11', longitude: '8.68' };
const regions = (place: Place, table = testTable()) =>
  steer(steeringIndex(table), place).clusters.map(({ region }) => region);

describe('weights and those about equally near', () => {
  // About half way between Ashburn and Frankfurt.
  const ATLANTIC = { latitude: '52', longitude: '-35' };

  it('draw clients from further away', () => {
    expect(regions(ATLANTIC)[0]).toBe('eu-central-1');
    expect(regions(ATLANTIC, testTable({ 1: { weight: 2 } }))[0]).toBe('us-east-1');
    expect(regions(FRANKFURT, testTable({ 1: { weight: 2 } }))[0]).toBe('eu-central-1');
  });

  it('draw by the distance along the earth, however far', () => {
    // 90 degrees to one, 170 to the other: half of that is nearer.
    const there = { 2: { latitude: 0, longitude: 90 }, 3: { latitude: 0, longitude: 170 } };
    const table = testTable({ 1: { state: 'planned' }, ...there });
    const origin = { latitude: '0', longitude: '0' };
    expect(regions(origin, table)[0]).toBe('eu-central-1');
    const light = {
      ...table,
      clusters: table.clusters.with(2, { ...table.clusters[2]!, weight: 1.8 }),
    };
    expect(regions(origin, light)[0]).toBe('eu-central-1');
    const heavy = {
      ...table,
      clusters: table.clusters.with(2, { ...table.clusters[2]!, weight: 2 }),
    };
    expect(regions(origin, heavy)[0]).toBe('ap-northeast-1');
  });

  const LUXEMBOURG = { latitude: '49.6', longitude: '6.1' };
  const PARIS = { latitude: 48.86, longitude: 2.35 };
  const LONDON = { latitude: 51.51, longitude: -0.13 };

  it.each<[string, Place, Record<number, Partial<SteeringCluster>>, number[], number]>([
    ['one alone', FRANKFURT, {}, [2, 1, 3], 1],
    ['two, half way between them', ATLANTIC, {}, [2, 1, 3], 2],
    [
      'an equal before the failover list',
      LUXEMBOURG,
      { 2: { failover: [1] }, 3: PARIS },
      [2, 3, 1],
      2,
    ],
    [
      'an equal that the list names last',
      LUXEMBOURG,
      { 2: { failover: [1, 3] }, 3: PARIS },
      [2, 3, 1],
      2,
    ],
    [
      'an equal that the list names first',
      LUXEMBOURG,
      { 2: { failover: [3] }, 3: PARIS },
      [2, 3, 1],
      2,
    ],
    ['two equals by distance, not by id', LUXEMBOURG, { 1: LONDON, 3: PARIS }, [2, 3, 1], 2],
    ['three equals', LUXEMBOURG, { 1: { latitude: 48.8, longitude: 9.1 }, 3: PARIS }, [2, 1, 3], 3],
    ['an equal by its weight', LUXEMBOURG, { 1: { ...LONDON, weight: 2 }, 3: PARIS }, [2, 1, 3], 3],
    [
      'none that is too light',
      LUXEMBOURG,
      { 2: { failover: [1] }, 3: { ...PARIS, weight: 0.5 } },
      [2, 1, 3],
      1,
    ],
    [
      'an equal of a home that drains',
      LUXEMBOURG,
      { 2: { state: 'draining', failover: [1] }, 3: PARIS },
      [3, 1],
      1,
    ],
    ['no equal that drains', LUXEMBOURG, { 3: { ...PARIS, state: 'draining' } }, [2, 1], 1],
    ['no equal that is planned', LUXEMBOURG, { 3: { ...PARIS, state: 'planned' } }, [2, 1], 1],
    ['no failover list', LUXEMBOURG, { 2: { state: 'draining', failover: [3, 1] } }, [3, 1], 1],
  ])('tell the order and how many share the load: %s', (_name, place, changes, order, peers) => {
    const steered = steer(steeringIndex(testTable(changes)), place);
    expect(steered.clusters.map(({ cluster }) => cluster)).toEqual(order);
    expect(steered.peers).toBe(peers);
  });
});

describe('a large table', () => {
  const [one] = testTable().clusters;
  const clusters: SteeringCluster[] = Array.from({ length: 300 }, (_, i) => ({
    ...one!,
    cluster: i + 1,
    latitude: ((i * 37) % 160) - 80,
    longitude: ((i * 101) % 360) - 180,
    failover: [],
  }));
  const large = steeringIndex({ version: 1, clusters });

  it('has calls taken by those behind more draining ones than are considered', () => {
    const from = { latitude: '50.11', longitude: '8.68' };
    const order = [...clusters].toSorted((a, b) => distanceKm(from, a)! - distanceKm(from, b)!);
    const drained = new Set(order.slice(0, 2 * NEAREST).map(({ cluster }) => cluster));
    const states = clusters.map((own) =>
      drained.has(own.cluster) ? { ...own, state: 'draining' as const } : own,
    );
    const { clusters: active, ingress } = steer(
      steeringIndex({ version: 1, clusters: states }),
      from,
    );
    expect(active).toEqual(order.slice(2 * NEAREST, 3 * NEAREST));
    expect(ingress).toBe(active[0]);
  });

  it('gives the nearest of all, in the order of their distance', () => {
    fc.assert(
      fc.property(
        fc.double({ min: -90, max: 90, noNaN: true }),
        fc.double({ min: -180, max: 180, noNaN: true }),
        (north, east) => {
          const place = { latitude: north.toFixed(4), longitude: east.toFixed(4) };
          const far = (cluster: SteeringCluster) => distanceKm(place, cluster)!;
          const nearest = clusters.map(far).toSorted((a, b) => a - b);
          const steered = steer(large, place).clusters.map(far);
          expect(steered).toHaveLength(NEAREST);
          for (const [i, km] of steered.entries()) expect(km).toBeCloseTo(nearest[i]!, 1);
        },
      ),
    );
  });
});
