/** Region files that must be refused, by TypeScript and by Terraform alike. */
import type { Ledger } from '../../protocol/footprint-ledger.ts';
import type { Regions } from './region-files.ts';

export interface BadRegion {
  readonly fault: string;
  /** What the files of the region and of others become. */
  readonly files: (regions: Regions) => Readonly<Record<string, unknown>>;
  /** What regions/ledger.json has. */
  readonly ledger?: Ledger;
  /** What a message must name, each. */
  readonly named: readonly string[];
}

const FILE = 'regions/us-east-1.yaml';

export const BAD_REGIONS: readonly BadRegion[] = [
  change('an id that another has', { id: 2 }, 'id', 'regions/eu-central-1.yaml'),
  change('an id of zero', { id: 0 }, 'id'),
  change('an id beyond 16 bits', { id: 65_536 }, 'id'),
  change('an id in quotes', { id: '1' }, 'id'),
  change(
    'a network that another has',
    { cidr: '10.2.0.0/16' },
    'cidr',
    'regions/eu-central-1.yaml',
  ),
  change('a network of another size', { cidr: '10.1.0.0/20' }, 'cidr'),
  change('a network that is none', { cidr: '10.999.0.0/16' }, 'cidr'),
  change('a network of the public', { cidr: '8.8.0.0/16' }, 'cidr'),
  change('a zone beyond the network', { azs: ['us-east-1a', 'us-east-1i'] }, 'azs', 'us-east-1i'),
  change('a failover that has no file', { failover: ['sa-east-1'] }, 'failover', 'sa-east-1'),
  change('itself as failover', { failover: ['us-east-1'] }, 'failover'),
  change('the same failover twice', { failover: ['eu-central-1', 'eu-central-1'] }, 'failover'),
  change('a zone of another region', { azs: ['us-east-1a', 'us-west-2b'] }, 'us-west-2b'),
  change('one zone only', { azs: ['us-east-1a'] }, 'azs'),
  change('the same zone twice', { azs: ['us-east-1a', 'us-east-1a'] }, 'azs'),
  change('a state that there is not', { state: 'paused' }, 'state'),
  change('a field that there is not', { vip: '192.0.2.1' }, 'vip'),
  change('a field missing', { redis: undefined }, 'redis'),
  change('more at least than at most', relay({ min: 9, max: 8 }), 'relay.min'),
  change('half an instance', relay({ min: 1.5, max: 8 }), 'relay.min'),
  change(
    'an instance type that is not of Graviton',
    relay({ instance_type: 'c7i.large' }),
    'relay.instance_type',
    'of Graviton',
  ),
  change('an instance type that is none', relay({ instance_type: 'large' }), 'relay.instance_type'),
  change('a latitude beyond the pole', geo({ latitude: 91 }), 'geo.latitude'),
  change('a longitude missing', geo({ longitude: undefined }), 'geo.longitude'),
  change('a country that YAML reads as false', geo({ countries: ['US', false] }), 'geo.countries'),
  change('a country that another claims', geo({ countries: ['DE'] }), 'country DE'),
  change('a continent that another claims', geo({ continents: ['EU'] }), 'continent EU'),
  {
    fault: 'a name that is no region',
    files: (regions) => ({
      ...regions,
      virginia: { ...regions['us-east-1'], id: 9, cidr: '10.9.0.0/16' },
    }),
    named: ['regions/virginia.yaml'],
  },
  once('an id that was another one before', { 'us-east-1': { id: 7, cidr: '10.1.0.0/16' } }, 'id'),
  once(
    'a network that was another before',
    { 'us-east-1': { id: 1, cidr: '10.7.0.0/16' } },
    'cidr',
  ),
  once(
    'the id of a region that is gone',
    { 'sa-east-1': { id: 1, cidr: '10.7.0.0/16', gone: true } },
    'id',
  ),
  once(
    'the network of one that is gone',
    { 'sa-east-1': { id: 7, cidr: '10.1.0.0/16', gone: true } },
    'cidr',
  ),
  {
    fault: 'its file missing, though nobody took it away',
    files: ({ 'eu-central-1': region }) => ({ 'eu-central-1': { ...region, failover: [] } }),
    ledger: { 'us-east-1': { id: 1, cidr: '10.1.0.0/16' } },
    named: [FILE, 'the file is missing', 'regions/ledger.json', 'remove us-east-1', 'ever built'],
  },
  {
    fault: 'no region that is active',
    files: (regions) =>
      Object.fromEntries(
        Object.entries(regions).map(([name, region]) => [name, { ...region, state: 'draining' }]),
      ),
    named: ['eu-central-1, us-east-1 has state: active'],
  },
  {
    fault: 'a list in the place of fields',
    files: (regions) => ({ ...regions, 'us-east-1': [] }),
    named: [FILE],
  },
];

/** The American file with other fields. */
function change(
  fault: string,
  fields: object | ((regions: Regions) => object),
  ...named: string[]
): BadRegion {
  return {
    fault,
    files: (regions) => ({
      ...regions,
      'us-east-1': {
        ...regions['us-east-1'],
        ...(typeof fields === 'function' ? fields(regions) : fields),
      },
    }),
    named: [FILE, ...named],
  };
}

/** The files as they are, where other ids and networks were given before. */
function once(fault: string, ledger: Ledger, field: string): BadRegion {
  const named = [FILE, field, 'regions/ledger.json', ...Object.keys(ledger)];
  return { fault, files: (regions) => regions, ledger, named };
}

function relay(fields: object) {
  return (regions: Regions) => ({ relay: { ...regions['us-east-1']!.relay, ...fields } });
}

function geo(fields: object) {
  return (regions: Regions) => ({ geo: { ...regions['us-east-1']!.geo, ...fields } });
}
