import { describe, expect, it } from 'vitest';
import type { SteeringCluster } from '../../protocol/footprint.ts';
import { readCities, type City } from './cities.ts';
import { jsonOf } from './json.ts';
import { mapOf } from './map.ts';
import { ACCESS_MS, KM_PER_MS, simulate, simulateChanges } from './simulation.ts';

const cluster = (
  id: number,
  latitude: number,
  longitude: number,
  more: Partial<SteeringCluster> = {},
): SteeringCluster => ({
  cluster: id,
  region: `region-${id}`,
  state: 'active',
  latitude,
  longitude,
  countries: [],
  continents: [],
  failover: [],
  signaling: '',
  relays: [],
  ...more,
});
const city = (name: string, latitude: number, longitude: number, population: number): City => ({
  name,
  country: 'XX',
  latitude,
  longitude,
  population,
});

const tableOf = (...clusters: SteeringCluster[]) => ({ version: 1 as const, clusters });
const WEST = cluster(1, 1, -60);
const EAST = cluster(2, 1, 60);
// A degree of latitude is 111.2 km.
const CITIES = [city('a', 1, -60, 50), city('b', 2, 60, 40), city('c & <d>', 11, 60, 10)];

describe('simulate', () => {
  it('tells distances by percentile of the people, estimates round trips, and adds up the load', () => {
    const { km, rtt, load } = simulate('x', tableOf(WEST, EAST), CITIES);
    expect(km.p50).toBeCloseTo(0, 3);
    expect(km.p75).toBeCloseTo(111.2, 1);
    expect(km.p90).toBeCloseTo(111.2, 1);
    expect(km.p95).toBeCloseTo(1111.9, 0);
    expect(rtt.p95).toBeCloseTo(ACCESS_MS + km.p95! / KM_PER_MS, 6);
    expect(load).toEqual({ 'region-1': 0.5, 'region-2': expect.closeTo(0.5, 9) });
  });

  it('divides sessions between regions that are about equally near', () => {
    const { load } = simulate('x', tableOf(WEST, cluster(3, 1.1, -60)), CITIES.slice(0, 1));
    expect(load).toEqual({ 'region-1': 0.5, 'region-3': 0.5 });
  });

  it('needs an active region', () => {
    const table = tableOf(cluster(1, 1, 1, { state: 'planned' }));
    expect(() => simulate('x', table, CITIES)).toThrow('No region is active');
  });
});

describe('simulateChanges', () => {
  it('leaves each active region out in turn, and takes each planned one in', () => {
    const planned = cluster(3, 11, 60, { state: 'planned' });
    const outcomes = simulateChanges(tableOf(WEST, EAST, planned), CITIES);
    expect(outcomes.map(({ name, load }) => [name, Object.keys(load)])).toEqual([
      ['as it is', ['region-1', 'region-2']],
      ['without region-1', ['region-2']],
      ['without region-2', ['region-1']],
      ['with region-3', ['region-1', 'region-2', 'region-3']],
    ]);
    expect(outcomes[3]!.km.p95).toBeLessThan(outcomes[0]!.km.p95!);
  });
});

describe('jsonOf', () => {
  it('has every outcome, with no more digits than there is to know', () => {
    const outcomes = simulateChanges(tableOf(WEST, EAST), CITIES.slice(0, 3));
    const [first, ...rest]: unknown[] = JSON.parse(jsonOf(outcomes));
    expect(first).toEqual({
      name: 'as it is',
      km: { p50: 0, p75: 111.2, p90: 111.2, p95: 1112, p99: 1112 },
      rtt: { p50: 10, p75: 11.7, p90: 11.7, p95: 27.1, p99: 27.1 },
      load: { 'region-1': 0.5, 'region-2': 0.5 },
    });
    expect(rest).toHaveLength(2);
    const thirds = simulate('x', tableOf(WEST, EAST), [CITIES[0]!, CITIES[0]!, CITIES[1]!]);
    expect(jsonOf([thirds])).not.toMatch(/\.\d{5}/);
  });
});

describe('mapOf', () => {
  it('draws each city in the color of its region, and names them', () => {
    const table = tableOf(WEST, EAST);
    const svg = mapOf(simulate('x', table, CITIES), table);
    expect(svg.match(/<circle /g)).toHaveLength(3);
    expect(new Set(svg.match(/hsl\([^)]*\)/g)).size).toBe(2);
    expect(svg).toContain('region-1 (50 %)');
    expect(svg).toContain('p95 1112 km, 27 ms');
    expect(svg).toContain('c &amp; &lt;d>, XX: region-2, 1112 km');
  });
});

describe('readCities', () => {
  it('reads every city once, on the globe', async () => {
    const cities = await readCities();
    expect(cities.length).toBeGreaterThan(400);
    const places = cities.map(
      ({ name, latitude, longitude }) => `${name} ${latitude} ${longitude}`,
    );
    expect(new Set(places).size).toBe(cities.length);
    for (const { latitude, longitude, population } of cities) {
      expect(Math.abs(latitude)).toBeLessThan(90);
      expect(Math.abs(longitude)).toBeLessThanOrEqual(180);
      expect(population).toBeGreaterThanOrEqual(750_000);
    }
  });
});
