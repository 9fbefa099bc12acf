/** Steering by tables that fit and are odd all the same: regions on one spot, at the poles, on the date line. */
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import * as v from 'valibot';
import { SteeringTableSchema, type SteeringTable } from '../protocol/footprint.ts';
import { parseSteering } from './footprint-reader.ts';
import { NEAREST, steer, steeringIndex } from './steering.ts';
import { clusterAt } from './testing/steering-table.ts';

const REGIONS = 300;

const latitude = fc.constantFrom(-90, -89.999_999, -0, 0, 5e-324, 50.11, 90);
const longitude = fc.constantFrom(-180, -179.999_999, -0, 0, 8.68, 179.999_999, 180);

const table: fc.Arbitrary<SteeringTable> = fc
  .array(
    fc.record({
      latitude,
      longitude,
      state: fc.constantFrom('active' as const, 'draining' as const, 'planned' as const),
      weight: fc.constantFrom(0.1, 1, 10),
      failover: fc.array(fc.integer({ min: 0, max: REGIONS + 2 }), { maxLength: 5 }),
      countries: fc.subarray(['DE', 'FR', 'US']),
      overrides: fc.record({ countries: fc.subarray(['DE', 'XX']), colos: fc.subarray(['FRA']) }),
    }),
    { minLength: REGIONS, maxLength: REGIONS },
  )
  .map((all) => ({
    version: 1,
    clusters: all.map(({ latitude: north, longitude: east, ...more }, i) => {
      const relays = [{ address: '192.0.2.1', port: 3478, transport: 'udp' as const }];
      const name = `x${'abcdefghij'[i % 10]}-${'abcdefghij'[Math.floor(i / 10) % 10]}${'abc'[Math.floor(i / 100)]}-1`;
      return clusterAt(i + 1, name, north, east, { relays, ...more });
    }),
  }));

const place = fc.record({
  latitude: fc.option(latitude.map(String), { nil: undefined }),
  longitude: fc.option(longitude.map(String), { nil: undefined }),
  country: fc.constantFrom(undefined, 'DE', 'XX', 'T1', '__proto__', 'constructor'),
  colo: fc.constantFrom(undefined, 'FRA', 'NRT', '__proto__'),
  continent: fc.constantFrom(undefined, 'EU', 'T1'),
  rtt: fc.constantFrom(undefined, 1, 1e9),
});

it('names active regions alone, each once, and relays wherever some region serves', () => {
  fc.assert(
    fc.property(table, place, (odd, from) => {
      expect(v.is(SteeringTableSchema, odd)).toBe(true);
      const { clusters, ingress, peers, reason } = steer(steeringIndex(odd), from);
      const actives = odd.clusters.filter(({ state }) => state === 'active').length;
      expect(clusters.length).toBeGreaterThanOrEqual(Math.min(NEAREST, actives));
      expect(new Set(clusters).size).toBe(clusters.length);
      expect(clusters.every(({ state }) => state === 'active')).toBe(true);
      expect(ingress?.state).toBe(actives > 0 ? 'active' : ingress?.state);
      expect(peers).toBeGreaterThanOrEqual(Math.min(1, actives));
      expect(peers).toBeLessThanOrEqual(clusters.length);
      expect(reason).not.toMatch(/undefined|NaN/);
    }),
    { numRuns: 50 },
  );
});

it.each<[string, object]>([
  ['a name that breaks a header', { region: 'eu-central-1"\r\nx: y' }],
  ['a name with a line after it', { region: 'eu-central-1\n' }],
  ['a name that every object has', { region: '__proto__' }],
  ['a name of no region', { region: 'constructor' }],
  ['a place beyond the pole', { latitude: 90.000_001 }],
  ['a place as text', { latitude: '50.11' }],
  ['no number for a place', { longitude: null }],
  ['no weight at all', { weight: 0 }],
  ['a weight below nothing', { weight: -1 }],
  ['an id that is too large for a ufrag', { cluster: 65_536 }],
  ['an id between two', { cluster: 1.5 }],
  ['an address of a file', { signaling: 'file:///etc/passwd' }],
  ['a port that is none', { relays: [{ address: '192.0.2.1', port: 0, transport: 'udp' }] }],
  ['a name for an address', { relays: [{ address: 'evil.test', port: 1, transport: 'udp' }] }],
])('a table with %s is refused', (_, change) => {
  const clusters = [{ ...clusterAt(1, 'eu-central-1', 50, 8), ...change }];
  expect(() => parseSteering(JSON.stringify({ version: 1, clusters }))).toThrow('does not fit at');
});

it('a table with a place that no number reaches is refused', () => {
  const text = JSON.stringify({ version: 1, clusters: [clusterAt(1, 'eu-central-1', 50, 8)] });
  expect(() => parseSteering(text.replace('"latitude":50', '"latitude":1e999'))).toThrow(
    'latitude',
  );
});
