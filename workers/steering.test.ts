import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Place } from './client-place.ts';
import { distanceKm, steer, steeringIndex } from './steering.ts';
import { testTable } from './testing/steering-table.ts';

const index = steeringIndex(testTable());
const regions = (place: Place, table = testTable()) =>
  steer(steeringIndex(table), place).clusters.map(({ region }) => region);

const FRANKFURT = { latitude: '50.11', longitude: '8.68' };

describe('steer', () => {
  it.each([
    ['New York', '40.71', '-74.01', 'us-east-1'],
    ['San Francisco', '37.77', '-122.42', 'us-east-1'],
    ['São Paulo', '-23.55', '-46.63', 'us-east-1'],
    ['London', '51.51', '-0.13', 'eu-central-1'],
    ['Lagos', '6.52', '3.38', 'eu-central-1'],
    ['Johannesburg', '-26.20', '28.05', 'eu-central-1'],
    ['Mumbai', '19.08', '72.88', 'eu-central-1'],
    ['Singapore', '1.35', '103.82', 'ap-northeast-1'],
    ['Sydney', '-33.87', '151.21', 'ap-northeast-1'],
    ['Tokyo', '35.68', '139.69', 'ap-northeast-1'],
    ['Honolulu, over the date line', '21.31', '-157.86', 'ap-northeast-1'],
    ['Suva, at the date line', '-18.14', '178.44', 'ap-northeast-1'],
    ['the north pole', '90', '0', 'eu-central-1'],
  ])('sends %s to its nearest region', (_name, latitude, longitude, region) => {
    const { clusters, ingress, basis } = steer(index, { latitude, longitude });
    expect(clusters[0]?.region).toBe(region);
    expect(ingress?.region).toBe(region);
    expect(basis).toBe('coordinates');
  });

  it.each([
    ['', ''],
    ['abc', 'abc'],
    ['91', '0'],
    ['0', '181'],
    ['-90.1', '0'],
    ['NaN', 'Infinity'],
    ['0x10', '1e1'],
    [' 50.11', '8.68 '],
    ['50.11', undefined],
    [undefined, '8.68'],
  ])('does not take %o, %o for coordinates', (latitude, longitude) => {
    const { basis, clusters } = steer(index, { latitude, longitude, country: 'JP' });
    expect(basis).toBe('country');
    expect(clusters[0]?.region).toBe('ap-northeast-1');
  });

  it('goes by continent when no region serves the country', () => {
    const { basis, clusters, reason } = steer(index, { country: 'SE', continent: 'EU' });
    expect(basis).toBe('continent');
    expect(clusters[0]?.region).toBe('eu-central-1');
    expect(reason).toContain('continent EU');
  });

  it.each([
    [{}],
    [{ country: 'T1' }],
    [{ country: 'XX', continent: 'XX' }],
    [{ country: '', continent: '' }],
    [{ colo: 'LOC' }],
  ])('falls back to the lowest active id for %j', (place) => {
    const { basis, clusters } = steer(index, place);
    expect(basis).toBe('default');
    expect(clusters[0]?.cluster).toBe(1);
    const draining = testTable({ 1: { state: 'draining' } });
    expect(steer(steeringIndex(draining), place).clusters[0]?.cluster).toBe(2);
  });

  it('takes the coordinates as they are at the edges of their range', () => {
    for (const latitude of ['90', '-90']) {
      for (const longitude of ['180', '-180']) {
        expect(steer(index, { latitude, longitude }).basis).toBe('coordinates');
      }
    }
  });

  it('orders clusters near to far, the failover list before distance', () => {
    expect(regions(FRANKFURT)).toEqual(['eu-central-1', 'us-east-1', 'ap-northeast-1']);
    const other = testTable({ 2: { failover: [3] } });
    expect(regions(FRANKFURT, other)).toEqual(['eu-central-1', 'ap-northeast-1', 'us-east-1']);
  });

  it('lets the failover list of a draining home take over, and its neighbor take the media', () => {
    const table = testTable({ 2: { state: 'draining', failover: [3] } });
    const { clusters, ingress, reason } = steer(steeringIndex(table), FRANKFURT);
    expect(clusters.map(({ region }) => region)).toEqual(['ap-northeast-1', 'us-east-1']);
    expect(ingress?.region).toBe('us-east-1');
    expect(reason).toBe(
      'takes over for eu-central-1, which is draining; that one is nearest to 50.11, 8.68',
    );
  });

  it('sends nothing to a planned region', () => {
    const table = testTable({ 2: { state: 'planned' } });
    const { clusters, ingress } = steer(steeringIndex(table), FRANKFURT);
    expect(clusters.map(({ region }) => region)).toEqual(['us-east-1', 'ap-northeast-1']);
    expect(ingress?.region).toBe('us-east-1');
    expect(steer(steeringIndex(table), { country: 'DE' }).basis).toBe('default');
  });

  it('keeps the relays of a draining region when there is no other, but starts no session', () => {
    const state = 'draining';
    const table = testTable({ 1: { state }, 2: { state }, 3: { state: 'planned' } });
    const { clusters, ingress, reason } = steer(steeringIndex(table), FRANKFURT);
    expect(clusters).toEqual([]);
    expect(ingress?.region).toBe('eu-central-1');
    expect(reason).toContain('no region is active');
  });

  it('has no ingress when all regions are planned', () => {
    const state = 'planned';
    const table = testTable({ 1: { state }, 2: { state }, 3: { state } });
    const { clusters, ingress } = steer(steeringIndex(table), FRANKFURT);
    expect(clusters).toEqual([]);
    expect(ingress).toBeUndefined();
  });

  it('does not mind failover ids that are gone', () => {
    expect(regions(FRANKFURT, testTable({ 2: { failover: [77, 3] } }))).toEqual([
      'eu-central-1',
      'ap-northeast-1',
      'us-east-1',
    ]);
  });

  it('names every active cluster once, whatever it is told of the place', () => {
    const text = fc.option(fc.oneof(fc.string(), fc.double().map(String)), { nil: undefined });
    const place = fc.record({
      colo: text,
      latitude: text,
      longitude: text,
      country: text,
      continent: text,
    });
    fc.assert(
      fc.property(place, (anywhere) => {
        const { clusters, ingress } = steer(index, anywhere);
        expect(clusters).toHaveLength(3);
        expect(new Set(clusters)).toEqual(new Set(index.clusters));
        expect(ingress).toBe(clusters[0]);
      }),
    );
  });
});

describe('a place that is not what it seems', () => {
  const SYDNEY = { latitude: '-33.87', longitude: '151.21' };

  it('is where the colo is when light could not come from its coordinates in the round trip', () => {
    const { basis, clusters, reason } = steer(index, { ...SYDNEY, colo: 'FRA', rtt: 20 });
    expect([basis, clusters[0]?.region]).toEqual(['colo', 'eu-central-1']);
    expect(reason).toBe('nearest to colo FRA');
  });

  it.each([
    ['a round trip that is long enough', { colo: 'FRA', rtt: 280 }],
    ['no round trip', { colo: 'FRA' }],
    ['a round trip of zero', { colo: 'FRA', rtt: 0 }],
    ['an unknown colo', { colo: 'LOC', rtt: 1 }],
  ])('is where its coordinates are with %s', (_name, cf) => {
    const { basis, clusters } = steer(index, { ...SYDNEY, ...cf });
    expect([basis, clusters[0]?.region]).toEqual(['coordinates', 'ap-northeast-1']);
  });

  it('is the exit of a VPN, which its packets pass, and the reason says so', () => {
    const { clusters, reason } = steer(index, { ...FRANKFURT, colo: 'FRA', rtt: 240 });
    expect(clusters[0]?.region).toBe('eu-central-1');
    expect(reason).toBe(
      'nearest to 50.11, 8.68, though 240 ms to FRA tell of a detour, as by VPN or satellite',
    );
  });

  it('is the exit of Tor, or the colo that one came to', () => {
    const tor = { country: 'T1', continent: 'T1', colo: 'NRT' };
    expect(steer(index, { ...tor, ...FRANKFURT }).clusters[0]?.region).toBe('eu-central-1');
    expect(steer(index, tor)).toMatchObject({
      basis: 'colo',
      ingress: { region: 'ap-northeast-1' },
    });
  });
});

describe('an override', () => {
  const table = testTable({ 3: { overrides: { countries: ['DE'], colos: ['LHR'] } } });
  const steered = (place: Place, state: 'active' | 'draining' = 'active') =>
    steer(
      steeringIndex({
        ...table,
        clusters: table.clusters.with(2, { ...table.clusters[2]!, state }),
      }),
      place,
    );

  it.each([
    [{ ...FRANKFURT, country: 'DE' }, 'takes all clients of country DE'],
    [{ ...FRANKFURT, country: 'US', colo: 'LHR' }, 'takes all clients of colo LHR'],
  ])('beats the distance for %j', (place, reason) => {
    expect(steered(place)).toMatchObject({
      basis: 'override',
      reason,
      ingress: { region: 'ap-northeast-1' },
      clusters: [{ region: 'ap-northeast-1' }, { region: 'us-east-1' }, { region: 'eu-central-1' }],
      peers: 1,
    });
  });

  it('does not concern others', () => {
    expect(steered({ ...FRANKFURT, country: 'FR' }).basis).toBe('coordinates');
  });

  it('hands its clients to the failover list while its region drains', () => {
    const { clusters, ingress } = steered({ ...FRANKFURT, country: 'DE' }, 'draining');
    expect(clusters[0]?.region).toBe('us-east-1');
    expect(ingress?.region).toBe('eu-central-1');
  });
});

describe('distanceKm', () => {
  it('is that of a great circle', () => {
    const [newYork] = testTable({ 1: { latitude: 40.7128, longitude: -74.006 } }).clusters;
    const london = { latitude: '51.5074', longitude: '-0.1278' };
    expect(distanceKm(london, newYork!)).toBeCloseTo(5570, -1);
    expect(distanceKm({ latitude: '40.7128', longitude: '-74.006' }, newYork!)).toBeCloseTo(0, 3);
  });

  it('is unknown without coordinates', () => {
    expect(distanceKm({ country: 'DE' }, testTable().clusters[0]!)).toBeUndefined();
  });
});
