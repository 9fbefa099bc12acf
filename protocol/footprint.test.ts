import * as fc from 'fast-check';
import * as v from 'valibot';
import { describe, expect, test } from 'vitest';
import {
  checkFootprint,
  clusterRoutes,
  FootprintError,
  steeringTable,
  SteeringTableSchema,
  type RegionEndpoints,
} from './footprint.ts';

const POOL = { instance_type: 'c7g.large', min: 2, max: 6 };
const US = {
  id: 9,
  state: 'active',
  cidr: '10.9.0.0/16',
  azs: ['us-east-1a', 'us-east-1b'],
  geo: { latitude: 38.95, longitude: -77.45, countries: ['US'], continents: ['NA', 'SA'] },
  failover: ['eu-central-1'],
  relay: POOL,
  transceiver: POOL,
  redis: { node_type: 'cache.r7g.large', replicas: 1 },
};
const EU = {
  ...US,
  id: 2,
  state: 'draining',
  cidr: '10.2.0.0/16',
  azs: ['eu-central-1a', 'eu-central-1b'],
  geo: { latitude: 50.11, longitude: 8.68 },
  failover: ['us-east-1'],
};
const FILES = { 'us-east-1': US, 'eu-central-1': EU };

const endpoints = (host: string): RegionEndpoints => ({
  signaling: `https://${host}.example`,
  relays: [{ address: '192.0.2.1', port: 3478, transport: 'udp' }],
});

/** The faults of the two regions when the American file has this change. */
function faultsOf(change: object, name = 'us-east-1'): readonly string[] {
  return faultsIn({ 'eu-central-1': { ...EU, failover: [] }, [name]: { ...US, ...change } });
}

function faultsIn(files: Readonly<Record<string, unknown>>): readonly string[] {
  try {
    checkFootprint(files);
  } catch (error) {
    if (error instanceof FootprintError) return error.faults;
    throw error;
  }
  return [];
}

describe('region files', () => {
  test('that fit are given back', () => {
    expect(checkFootprint(FILES)).toEqual(FILES);
  });

  test.each([
    [{ id: 0 }, 'id: Invalid value: Expected >=1 but received 0'],
    [{ id: 65_536 }, 'id: Invalid value: Expected <=65535 but received 65536'],
    [{ id: '9' }, 'id: Invalid type: Expected number but received "9"'],
    [{ id: undefined }, 'id: Invalid type: Expected number but received undefined'],
    [{ vip: '192.0.2.1' }, 'vip: there is no such field'],
    [{ relay: { ...POOL, size: 3 } }, 'relay.size: there is no such field'],
    [{ geo: { latitude: 1 } }, 'geo.longitude: the field is missing'],
    [
      { geo: { latitude: 91, longitude: 0 } },
      'geo.latitude: Invalid value: Expected <=90 but received 91',
    ],
    [
      { geo: { ...EU.geo, countries: ['de'] } },
      'geo.countries.0: give a country by its two capital letters, as DE',
    ],
    [{ cidr: '10.9.0.0/20' }, 'cidr: give an IPv4 /16, as 10.1.0.0/16'],
    [{ cidr: '300.9.0.0/16' }, 'cidr 300.9.0.0/16 is not a private network of RFC 1918'],
    [{ cidr: '010.2.0.0/16' }, 'cidr 010.2.0.0/16 is not a private network of RFC 1918'],
    [{ cidr: '172.32.0.0/16' }, 'cidr 172.32.0.0/16 is not a private network of RFC 1918'],
    [
      { azs: ['us-east-1a', 'us-east-1i'] },
      'azs: us-east-1i has no room in the network, which is cut for zones a to h',
    ],
    [{ azs: ['us-east-1a'] }, 'azs: Invalid length: Expected >=2 but received 1'],
    [{ azs: ['us-east-1a', 'us-west-1b'] }, 'us-west-1b is not a zone of us-east-1'],
    [{ azs: ['us-east-1a', 'us-east-1b; rm'] }, 'azs.1: give the name of a zone, as eu-central-1a'],
    [{ azs: ['us-east-1a', 'us-east-1a'] }, 'azs has us-east-1a twice'],
    [{ geo: { ...US.geo, countries: ['BR', 'BR'] } }, 'geo.countries has BR twice'],
    [{ geo: { ...US.geo, continents: ['SA', 'SA'] } }, 'geo.continents has SA twice'],
    [{ failover: ['us-east-1'] }, 'failover names the region itself'],
    [
      { failover: ['sa-east-1'] },
      'failover names sa-east-1, which has no file: take it out of the list',
    ],
    [{ failover: ['eu-central-1', 'eu-central-1'] }, 'failover has eu-central-1 twice'],
    [{ failover: ['Frankfurt'] }, 'failover.0: give the name of a region, as eu-central-1'],
    [{ transceiver: { ...POOL, min: 7 } }, 'transceiver.min exceeds transceiver.max'],
    [
      { relay: { ...POOL, instance_type: 'large' } },
      'relay.instance_type: give an EC2 instance type of Graviton, as c7g.large',
    ],
    [
      { redis: { node_type: 'r7g.large', replicas: 1 } },
      'redis.node_type: give an ElastiCache node type, as cache.r7g.large',
    ],
  ])('%j: %s', (change, fault) => {
    expect(faultsOf(change)).toEqual([`regions/us-east-1.yaml: ${fault}`]);
  });

  const both = 'regions/eu-central-1.yaml and regions/us-east-1.yaml both have';

  test.each([
    [{ id: 2 }, 'id 2'],
    [{ cidr: '10.2.0.0/16' }, 'cidr 10.2.0.0/16'],
    [{ geo: { ...US.geo, countries: ['BR', 'DE'] } }, 'country DE'],
    [{ geo: { ...US.geo, continents: ['SA', 'AF'] } }, 'continent AF'],
  ])('%j: neither of two files is blamed for what both have', (change, claim) => {
    const geo = { ...EU.geo, countries: ['FR', 'DE'], continents: ['EU', 'AF'] };
    const eu = { ...EU, geo, failover: [] };
    expect(faultsIn({ 'eu-central-1': eu, 'us-east-1': { ...US, ...change } })).toEqual([
      `${both} ${claim}`,
    ]);
  });

  test('name all the files that have the same', () => {
    const other = { ...EU, id: 3, cidr: '10.3.0.0/16', azs: ['eu-west-1a', 'eu-west-1b'] };
    expect(faultsIn({ ...FILES, 'eu-west-1': { ...other, id: 9 } })).toEqual([
      'regions/us-east-1.yaml and regions/eu-west-1.yaml both have id 9',
    ]);
    const files = { ...FILES, 'eu-central-1': { ...EU, id: 9 }, 'eu-west-1': { ...other, id: 9 } };
    expect(faultsIn(files)).toEqual([
      'regions/us-east-1.yaml, regions/eu-central-1.yaml, and regions/eu-west-1.yaml all have id 9',
    ]);
  });

  test('have every fault told that can be, whatever else is wrong in them', () => {
    const change = {
      id: 2,
      state: 'gone',
      cidr: 'x',
      azs: ['us-west-1b'],
      geo: { latitude: 150, countries: ['de', 'BR', 'BR'] },
      failover: ['Frankfurt', 'us-east-1', 'sa-east-1'],
      relay: { min: 9, max: 8, instance_type: 'large' },
      transceiver: { min: -1, max: 0 },
    };
    const all = faultsOf(change).join('\n');
    for (const fault of [
      'us-east-1.yaml: state: ',
      'us-east-1.yaml: cidr: give an IPv4 /16',
      'us-east-1.yaml: azs: Invalid length',
      'us-east-1.yaml: us-west-1b is not a zone of us-east-1',
      'us-east-1.yaml: geo.latitude: ',
      'us-east-1.yaml: geo.longitude: the field is missing',
      'us-east-1.yaml: geo.countries.0: give a country by its two capital letters',
      'us-east-1.yaml: geo.countries has BR twice',
      'us-east-1.yaml: failover.0: give the name of a region',
      'us-east-1.yaml: failover names the region itself',
      'us-east-1.yaml: failover names sa-east-1, which has no file',
      'us-east-1.yaml: relay.instance_type: ',
      'us-east-1.yaml: relay.min exceeds relay.max',
      'us-east-1.yaml: transceiver.instance_type: the field is missing',
      'us-east-1.yaml: transceiver.min: ',
      `${both} id 2`,
      'regions/: none of eu-central-1, us-east-1 has state: active',
    ]) {
      expect(all).toContain(fault);
    }
    expect(all.split('\n')).toHaveLength(17);
  });

  test('of any shape are told as faults, and nothing else is thrown', () => {
    const field = fc.option(fc.constantFrom(...Object.keys(US)), { nil: 'x' });
    const change = fc.dictionary(field, fc.anything());
    fc.assert(
      fc.property(change, fc.anything(), (changes, other) => {
        const files = { 'us-east-1': { ...US, ...changes }, 'eu-central-1': other };
        expect(faultsIn(files).every((fault) => fault.startsWith('regions/'))).toBe(true);
      }),
    );
  });

  test('are named for their region', () => {
    expect(faultsOf({}, 'virginia')).toEqual([
      'regions/virginia.yaml: name the file for its region, as eu-central-1',
      'regions/virginia.yaml: us-east-1a is not a zone of virginia',
      'regions/virginia.yaml: us-east-1b is not a zone of virginia',
    ]);
  });

  test('have their faults told all at once, in the message too', () => {
    const files = { 'us-east-1': null, 'eu-central-1': { ...EU, id: 'x', state: 'gone' } };
    const faults = [
      'regions/us-east-1.yaml: the file: Invalid type: Expected Object but received null',
      'regions/eu-central-1.yaml: id: Invalid type: Expected number but received "x"',
      'regions/eu-central-1.yaml: state: Invalid type: ' +
        'Expected ("planned" | "active" | "draining") but received "gone"',
      'regions/: none of eu-central-1, us-east-1 has state: active, so nothing would take a call',
    ];
    expect(() => checkFootprint(files)).toThrow(new FootprintError(faults));
    expect(new FootprintError(faults).message).toContain(faults.join('\n  '));
  });

  test('must be there', () => {
    expect(() => checkFootprint({})).toThrow('regions/: there is no region file');
  });
});

const tableCluster = () =>
  steeringTable(checkFootprint({ 'us-east-1': { ...US, failover: [] } }), {
    'us-east-1': endpoints('us'),
  }).clusters[0]!;

describe('the steering table', () => {
  const footprint = checkFootprint(FILES);

  test('holds what the edge needs, in the order of ids', () => {
    const table = steeringTable(footprint, {
      'us-east-1': endpoints('us'),
      'eu-central-1': endpoints('eu'),
    });
    expect(table).toEqual({
      version: 1,
      clusters: [
        {
          cluster: 2,
          region: 'eu-central-1',
          state: 'draining',
          latitude: 50.11,
          longitude: 8.68,
          countries: [],
          continents: [],
          failover: [9],
          ...endpoints('eu'),
        },
        {
          cluster: 9,
          region: 'us-east-1',
          state: 'active',
          latitude: 38.95,
          longitude: -77.45,
          countries: ['US'],
          continents: ['NA', 'SA'],
          failover: [2],
          ...endpoints('us'),
        },
      ],
    });
    expect(v.parse(SteeringTableSchema, JSON.parse(JSON.stringify(table)))).toEqual(table);
  });

  test('cannot be made while a region has no endpoints', () => {
    expect(() => steeringTable(footprint, { 'us-east-1': endpoints('us') })).toThrow(
      'regions/eu-central-1.yaml: the region has no endpoints',
    );
  });

  test.each([
    ['another version', { version: 2 }],
    ['no cluster', { clusters: [] }],
    ['an unknown field', { default: 1 }],
    [
      'two clusters of one id',
      { clusters: [tableCluster(), { ...tableCluster(), region: 'us-west-2' }] },
    ],
    [
      'two clusters of one region',
      { clusters: [tableCluster(), { ...tableCluster(), cluster: 12 }] },
    ],
    [
      'a final slash of signaling',
      { clusters: [{ ...tableCluster(), signaling: 'https://us.example/' }] },
    ],
    [
      'a relay in a zone',
      {
        clusters: [
          {
            ...tableCluster(),
            relays: [{ address: 'fe80::1%lo', port: 3478, transport: 'udp' }],
          },
        ],
      },
    ],
    [
      'more relays than a region may have',
      { clusters: [{ ...tableCluster(), relays: Array(9).fill(endpoints('us').relays[0]) }] },
    ],
  ])('with %s is refused', (_, change) => {
    const table = steeringTable(checkFootprint(FILES), {
      'us-east-1': endpoints('us'),
      'eu-central-1': endpoints('eu'),
    });
    expect(v.is(SteeringTableSchema, { ...table, ...change })).toBe(false);
  });
});

describe('the cluster routes', () => {
  test('lead to the relays of each region, in the order of ids', () => {
    const us = [{ address: '10.9.0.4', port: 3479 }];
    const eu = [
      { address: '10.2.0.4', port: 3479 },
      { address: '10.2.0.5', port: 3479 },
    ];
    expect(clusterRoutes(checkFootprint(FILES), { 'us-east-1': us, 'eu-central-1': eu })).toEqual([
      { cluster: 2, region: 'eu-central-1', relays: eu },
      { cluster: 9, region: 'us-east-1', relays: us },
    ]);
  });

  test('leave out a region without relays', () => {
    const trunks = { 'us-east-1': [{ address: '10.9.0.4', port: 3479 }], 'eu-central-1': [] };
    const routes = clusterRoutes(checkFootprint(FILES), trunks);
    expect(routes.map(({ region }) => region)).toEqual(['us-east-1']);
  });
});
