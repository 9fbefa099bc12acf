/**
 * The footprint: region files, and the tables derived from them for edge and relays.
 * A region is one file `regions/NAME.yaml`; the whole is checked at once, for ids and names refer to
 * each other.
 */
import ipaddr from 'ipaddr.js';
import * as v from 'valibot';
import { RelayAddressSchema, type RelayAddress } from './signature.ts';

const Count = v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(1000));
const Pool = v.strictObject({
  instance_type: v.pipe(
    v.string(),
    v.regex(/^[a-z0-9-]+\.[a-z0-9]+$/, 'give an EC2 instance type, as c7g.large'),
  ),
  min: Count,
  max: Count,
});
const RegionName = v.pipe(
  v.string(),
  v.regex(/^[a-z]{2}(-[a-z]+)+-[0-9]$/, 'give the name of a region, as eu-central-1'),
);

/** One region file. */
export const RegionSchema = v.strictObject({
  id: v.pipe(
    v.number(),
    v.integer(),
    v.minValue(1),
    v.maxValue(0xffff),
    v.description(
      'Cluster id in every routed ufrag. Never used again, even after a region is gone.',
    ),
  ),
  state: v.pipe(
    v.picklist(['planned', 'active', 'draining']),
    v.description('planned: built but sent nothing; active; draining: takes no new sessions.'),
  ),
  cidr: v.pipe(
    v.string(),
    v.regex(/^\d+\.\d+\.0\.0\/16$/, 'give an IPv4 /16, as 10.1.0.0/16'),
    v.description('IPv4 /16 of the VPC.'),
  ),
  azs: v.pipe(v.array(v.string()), v.minLength(2), v.description('Availability zones.')),
  geo: v.strictObject({
    latitude: v.pipe(v.number(), v.minValue(-90), v.maxValue(90)),
    longitude: v.pipe(v.number(), v.minValue(-180), v.maxValue(180)),
    countries: v.optional(
      v.pipe(
        v.array(
          v.pipe(
            v.string(),
            v.regex(/^[A-Z]{2}$/, 'give a country by its two capital letters, as DE'),
          ),
        ),
        v.description('ISO 3166-1 codes served from here when a client has no coordinates.'),
      ),
    ),
    continents: v.optional(
      v.pipe(
        v.array(v.picklist(['AF', 'AN', 'AS', 'EU', 'NA', 'OC', 'SA'])),
        v.description('Continents served from here when nothing more exact is known.'),
      ),
    ),
  }),
  failover: v.pipe(
    v.array(RegionName),
    v.description('Regions that take over, in this order; every other region follows by distance.'),
  ),
  relay: Pool,
  transceiver: Pool,
  redis: v.strictObject({
    node_type: v.pipe(
      v.string(),
      v.regex(/^cache\.[a-z0-9]+\.[a-z0-9]+$/, 'give an ElastiCache node type, as cache.r7g.large'),
    ),
    replicas: v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(5)),
  }),
});
export type Region = v.InferOutput<typeof RegionSchema>;

/** All regions by name. */
export type Footprint = Readonly<Record<string, Region>>;

/** Region files that do not fit; the message lists every fault with its file. */
export class FootprintError extends Error {
  override readonly name = 'FootprintError';
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super(`The region files do not fit:\n${faults.map((fault) => `  ${fault}`).join('\n')}`);
    this.faults = faults;
  }
}

/**
 * @param files Parsed region files by region name, of any shape.
 * @throws FootprintError
 */
export function checkFootprint(files: Readonly<Record<string, unknown>>): Footprint {
  const faults: string[] = [];
  const footprint: Record<string, Region> = {};
  for (const [name, file] of Object.entries(files)) {
    const at = `regions/${name}.yaml`;
    if (!v.is(RegionName, name))
      faults.push(`${at}: name the file for its region, as eu-central-1`);
    const result = v.safeParse(RegionSchema, file);
    if (result.success) footprint[name] = result.output;
    else for (const issue of result.issues) faults.push(`${at}: ${describe(issue)}`);
  }
  if (Object.keys(files).length === 0) faults.push('regions/: there is no region file');
  faults.push(...crossFaults(footprint, files));
  if (faults.length > 0) throw new FootprintError(faults);
  return footprint;
}

function describe(issue: v.BaseIssue<unknown>): string {
  const path = v.getDotPath(issue);
  if (path !== null && issue.type === 'strict_object') {
    if (issue.expected === 'never') return `${path}: there is no such field`;
    if (issue.received === 'undefined') return `${path}: the field is missing`;
  }
  return `${path ?? 'the file'}: ${issue.message}`;
}

function crossFaults(footprint: Footprint, files: Readonly<Record<string, unknown>>): string[] {
  const faults: string[] = [];
  const ids = new Map<number, string>();
  const cidrs = new Map<string, string>();
  for (const [name, region] of Object.entries(footprint)) {
    const at = `regions/${name}.yaml`;
    const sameId = ids.get(region.id);
    if (sameId) faults.push(`${at}: id ${region.id} is taken by ${sameId}`);
    ids.set(region.id, name);
    const sameCidr = cidrs.get(region.cidr);
    if (sameCidr) faults.push(`${at}: cidr ${region.cidr} is taken by ${sameCidr}`);
    cidrs.set(region.cidr, name);
    if (!ipaddr.IPv4.isValidCIDRFourPartDecimal(region.cidr)) {
      faults.push(`${at}: cidr ${region.cidr} is not an IPv4 network`);
    }
    for (const twice of repeated(region.failover))
      faults.push(`${at}: failover has ${twice} twice`);
    for (const twice of repeated(region.azs)) faults.push(`${at}: azs has ${twice} twice`);
    for (const other of region.failover) {
      if (other === name) faults.push(`${at}: failover names the region itself`);
      else if (!Object.hasOwn(files, other))
        faults.push(`${at}: failover names ${other}, which has no file`);
    }
    for (const zone of region.azs) {
      if (!zone.startsWith(name)) faults.push(`${at}: ${zone} is not a zone of ${name}`);
    }
    for (const pool of ['relay', 'transceiver'] as const) {
      if (region[pool].min > region[pool].max)
        faults.push(`${at}: ${pool}.min exceeds ${pool}.max`);
    }
  }
  return faults;
}

function repeated(items: readonly string[]): Set<string> {
  return new Set(items.filter((item, at) => items.indexOf(item) !== at));
}

/** Where a region's parts can be reached; the cloud or a local run assigns them. */
export interface RegionEndpoints {
  /** Base URL of the cluster's signaling, without a final slash. */
  readonly signaling: string;
  /** What clients of this region send media to: the VIPs. */
  readonly relays: readonly RelayAddress[];
}

const SteeringClusterSchema = v.strictObject({
  cluster: RegionSchema.entries.id,
  region: RegionName,
  state: RegionSchema.entries.state,
  ...v.required(RegionSchema.entries.geo).entries,
  /** Cluster ids in the order they take over. */
  failover: v.array(v.number()),
  signaling: v.pipe(v.string(), v.url()),
  relays: v.pipe(v.array(RelayAddressSchema), v.minLength(1)),
});

/** What the edge steers by; stored in Workers KV as JSON. */
export const SteeringTableSchema = v.strictObject({
  version: v.literal(1),
  clusters: v.pipe(v.array(SteeringClusterSchema), v.minLength(1)),
});
export type SteeringTable = v.InferOutput<typeof SteeringTableSchema>;
export type SteeringCluster = SteeringTable['clusters'][number];

/** The edge's table, clusters in the order of their ids. */
export function steeringTable(
  footprint: Footprint,
  endpoints: Readonly<Record<string, RegionEndpoints>>,
): SteeringTable {
  const clusters = regionsById(footprint).map(([name, region]) => {
    const { signaling, relays } = endpointsOf(endpoints, name);
    return {
      cluster: region.id,
      region: name,
      state: region.state,
      latitude: region.geo.latitude,
      longitude: region.geo.longitude,
      countries: region.geo.countries ?? [],
      continents: region.geo.continents ?? [],
      failover: region.failover.map((other) => footprint[other]!.id),
      signaling,
      relays: [...relays],
    };
  });
  return { version: 1, clusters };
}

/** An address on the trunk. */
export interface TrunkAddress {
  readonly address: string;
  readonly port: number;
}

/** How a relay reaches another cluster. */
export interface ClusterRoute {
  readonly cluster: number;
  readonly region: string;
  /** Trunk addresses of that region's relays. */
  readonly relays: readonly TrunkAddress[];
}

/** The relays' table, in the order of cluster ids. A region without relays has no route. */
export function clusterRoutes(
  footprint: Footprint,
  trunks: Readonly<Record<string, readonly TrunkAddress[]>>,
): ClusterRoute[] {
  return regionsById(footprint)
    .map(([name, { id }]) => ({ cluster: id, region: name, relays: trunks[name] ?? [] }))
    .filter((route) => route.relays.length > 0);
}

function regionsById(footprint: Footprint): [string, Region][] {
  return Object.entries(footprint).toSorted(([, a], [, b]) => a.id - b.id);
}

function endpointsOf(endpoints: Readonly<Record<string, RegionEndpoints>>, name: string) {
  const found = endpoints[name];
  if (!found) throw new FootprintError([`regions/${name}.yaml: the region has no endpoints`]);
  return found;
}
