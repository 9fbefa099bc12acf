// Real workerd with a `request.cf` for each request, as Cloudflare would tell it.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startLocalEdge, type LocalEdge } from './testing/local-edge.ts';
import { clusterAt as at } from './testing/steering-table.ts';

const TABLE = {
  version: 1,
  clusters: [
    at(1, 'us-east-1', 38.95, -77.45, { countries: ['US', 'CA'], continents: ['NA'] }),
    at(2, 'us-west-2', 45.84, -119.7),
    at(3, 'sa-east-1', -23.55, -46.63, { countries: ['BR'], continents: ['SA'] }),
    at(4, 'eu-central-1', 50.11, 8.68, { countries: ['DE'], continents: ['EU'] }),
    at(5, 'eu-west-2', 51.51, -0.13, { countries: ['GB'], overrides: { countries: ['IE'] } }),
    at(6, 'af-south-1', -33.92, 18.42, { continents: ['AF'] }),
    at(7, 'ap-south-1', 19.08, 72.88, { countries: ['IN'] }),
    at(8, 'ap-southeast-1', 1.35, 103.82, { continents: ['AS'], overrides: { colos: ['HKG'] } }),
    at(9, 'ap-southeast-2', -33.87, 151.21, { continents: ['OC'] }),
    at(10, 'ap-northeast-1', 35.68, 139.69, { countries: ['JP'] }),
    at(11, 'me-central-1', 24.45, 54.38, { state: 'draining', failover: [7] }),
    at(12, 'ca-central-1', 45.5, -73.6, { state: 'planned' }),
  ],
} as const;

let edge: LocalEdge;
beforeAll(async () => {
  edge = await startLocalEdge(JSON.stringify(TABLE));
  const report = { transceiver: 1, sessions: 0, capacity: 10, draining: false };
  for (const { cluster } of TABLE.clusters) await edge.join(cluster, report);
});
afterAll(() => edge.close());

const T1 = { country: 'T1', continent: 'T1' };

it.each([
  ['New York', 'EWR', '40.71', '-74.01', 'us-east-1', 'coordinates', {}],
  ['Boston', 'BOS', '42.36', '-71.06', 'us-east-1', 'coordinates', {}],
  ['Miami', 'MIA', '25.76', '-80.19', 'us-east-1', 'coordinates', {}],
  ['Houston', 'IAH', '29.76', '-95.37', 'us-east-1', 'coordinates', {}],
  ['Seattle', 'SEA', '47.61', '-122.33', 'us-west-2', 'coordinates', {}],
  ['Los Angeles', 'LAX', '34.05', '-118.24', 'us-west-2', 'coordinates', {}],
  ['Denver', 'DEN', '39.74', '-104.99', 'us-west-2', 'coordinates', {}],
  ['Anchorage', 'ANC', '61.22', '-149.90', 'us-west-2', 'coordinates', {}],
  ['Honolulu', 'HNL', '21.31', '-157.86', 'us-west-2', 'coordinates', {}],
  [
    'Montréal, where a region is only planned',
    'YUL',
    '45.5',
    '-73.6',
    'us-east-1',
    'coordinates',
    {},
  ],
  ['Mexico City', 'MEX', '19.43', '-99.13', 'us-east-1', 'coordinates', {}],
  ['Bogotá', 'BOG', '4.71', '-74.07', 'us-east-1', 'coordinates', {}],
  ['Lima', 'LIM', '-12.05', '-77.04', 'sa-east-1', 'coordinates', {}],
  ['São Paulo', 'GRU', '-23.55', '-46.63', 'sa-east-1', 'coordinates', {}],
  ['Buenos Aires', 'EZE', '-34.60', '-58.38', 'sa-east-1', 'coordinates', {}],
  ['Santiago', 'SCL', '-33.45', '-70.67', 'sa-east-1', 'coordinates', {}],
  ['London', 'LHR', '51.51', '-0.13', 'eu-west-2', 'coordinates', {}],
  ['Lisbon', 'LIS', '38.72', '-9.14', 'eu-west-2', 'coordinates', {}],
  ['Reykjavík', 'KEF', '64.15', '-21.94', 'eu-west-2', 'coordinates', {}],
  ['Frankfurt', 'FRA', '50.11', '8.68', 'eu-central-1', 'coordinates', {}],
  ['Warsaw', 'WAW', '52.23', '21.01', 'eu-central-1', 'coordinates', {}],
  ['Rome', 'FCO', '41.90', '12.50', 'eu-central-1', 'coordinates', {}],
  ['Istanbul', 'IST', '41.01', '28.98', 'eu-central-1', 'coordinates', {}],
  ['Lagos', 'LOS', '6.52', '3.38', 'af-south-1', 'coordinates', {}],
  ['Johannesburg', 'JNB', '-26.20', '28.05', 'af-south-1', 'coordinates', {}],
  [
    'Nairobi, to which Cape Town is about as near as Dubai, which drains',
    'NBO',
    '-1.29',
    '36.82',
    'af-south-1',
    'coordinates',
    {},
  ],
  [
    'Dubai, whose region drains to Mumbai',
    'DXB',
    '25.20',
    '55.27',
    'ap-south-1',
    'coordinates',
    {},
  ],
  ['Mumbai', 'BOM', '19.08', '72.88', 'ap-south-1', 'coordinates', {}],
  ['Delhi', 'DEL', '28.61', '77.21', 'ap-south-1', 'coordinates', {}],
  ['Singapore', 'SIN', '1.35', '103.82', 'ap-southeast-1', 'coordinates', {}],
  ['Jakarta', 'CGK', '-6.21', '106.85', 'ap-southeast-1', 'coordinates', {}],
  ['Manila', 'MNL', '14.60', '120.98', 'ap-southeast-1', 'coordinates', {}],
  ['Tokyo', 'NRT', '35.68', '139.69', 'ap-northeast-1', 'coordinates', {}],
  ['Seoul', 'ICN', '37.57', '126.98', 'ap-northeast-1', 'coordinates', {}],
  ['Taipei', 'TPE', '25.03', '121.57', 'ap-northeast-1', 'coordinates', {}],
  ['Sydney', 'SYD', '-33.87', '151.21', 'ap-southeast-2', 'coordinates', {}],
  ['Perth', 'PER', '-31.95', '115.86', 'ap-southeast-2', 'coordinates', {}],
  ['Auckland', 'AKL', '-36.85', '174.76', 'ap-southeast-2', 'coordinates', {}],
  ['Suva, at the date line', 'SUV', '-18.14', '178.44', 'ap-southeast-2', 'coordinates', {}],
  ['Dublin, by an override', 'DUB', '53.35', '-6.26', 'eu-west-2', 'override', { country: 'IE' }],
  ['Hong Kong, by an override', 'HKG', '22.32', '114.17', 'ap-southeast-1', 'override', {}],
  [
    'coordinates that light refutes',
    'FRA',
    '-33.87',
    '151.21',
    'eu-central-1',
    'colo',
    { clientTcpRtt: 9 },
  ],
  ['the same over HTTP/3', 'FRA', '-33.87', '151.21', 'eu-central-1', 'colo', { clientQuicRtt: 9 }],
  [
    'the exit of a VPN',
    'NRT',
    '35.68',
    '139.69',
    'ap-northeast-1',
    'coordinates',
    { clientTcpRtt: 290 },
  ],
  ['the exit of Tor', 'AMS', '52.37', '4.90', 'eu-west-2', 'coordinates', T1],
  ['the colo that Tor comes to', 'NRT', undefined, undefined, 'ap-northeast-1', 'colo', T1],
  ['a colo alone', 'CPT', undefined, undefined, 'af-south-1', 'colo', {}],
  ['a country alone', 'ZZZ', undefined, undefined, 'sa-east-1', 'country', { country: 'BR' }],
  [
    'a continent alone',
    'ZZZ',
    'x',
    '0',
    'ap-southeast-2',
    'continent',
    { country: 'TV', continent: 'OC' },
  ],
  ['half a place', 'ZZZ', '50.11', undefined, 'us-east-1', 'default', {}],
  ['nothing at all', undefined, undefined, undefined, 'us-east-1', 'default', {}],
] as const)('steers %s', async (_name, colo, latitude, longitude, region, basis, more) => {
  // Miniflare fills in a country of its own where none is set, even as unknown.
  const unknown = { country: undefined, continent: undefined };
  const cf: object = { ...unknown, colo, latitude, longitude, ...more };
  const response = await edge.fetch('/v1/where', { cf });
  expect(await response.json()).toMatchObject({ region, basis, clusters: { 0: { region } } });
});

it('takes the media in near the client while its region drains', async () => {
  const cf = { latitude: '25.20', longitude: '55.27' };
  expect(await (await edge.fetch('/v1/where', { cf })).json()).toMatchObject({
    ingress: { region: 'ap-south-1' },
    reason: 'takes over for me-central-1, which is draining; that one is nearest to 25.2, 55.27',
  });
});
