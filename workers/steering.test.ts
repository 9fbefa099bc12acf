import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { distanceKm, steer, steeringIndex, type Place } from './steering.ts';
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
    [{ colo: 'FRA' }],
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
