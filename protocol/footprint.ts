/**
 * The footprint: region files, and the tables derived from them for edge and relays.
 * A region is one file `regions/NAME.yaml`; the whole is checked at once, for ids and names refer to
 * each other.
 */
import * as v from 'valibot';
import { BaseUrlSchema } from './base-url.ts';
import { ledgerFaults } from './footprint-ledger.ts';
import { fileOf, ruleFaults } from './footprint-rules.ts';
import { RegionNameSchema, RegionSchema, type Region } from './footprint-region.ts';
import { MAX_REGION_RELAYS, RelayAddressSchema, type RelayAddress } from './signature.ts';

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
 * @param ledger Ids and networks that were ever used; see footprint-ledger.ts.
 * @throws FootprintError
 */
export function checkFootprint(
  files: Readonly<Record<string, unknown>>,
  ledger: unknown = {},
): Footprint {
  const faults: string[] = [];
  const footprint: Record<string, Region> = {};
  for (const [name, file] of Object.entries(files)) {
    const at = fileOf(name);
    if (!v.is(RegionNameSchema, name))
      faults.push(`${at}: name the file for its region, as eu-central-1`);
    const result = v.safeParse(RegionSchema, file);
    if (result.success) footprint[name] = result.output;
    else for (const issue of result.issues) faults.push(`${at}: ${describe(issue)}`);
  }
  if (Object.keys(files).length === 0) faults.push('regions/: there is no region file');
  faults.push(...ruleFaults(files), ...ledgerFaults(files, ledger));
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

/** Where a region's parts can be reached; the cloud or a local run assigns them. */
export interface RegionEndpoints {
  /** Base URL of the cluster's signaling, without a final slash. */
  readonly signaling: string;
  /** What clients of this region send media to, the VIPs; at most {@link MAX_REGION_RELAYS}. */
  readonly relays: readonly RelayAddress[];
}

const SteeringClusterSchema = v.strictObject({
  cluster: RegionSchema.entries.id,
  region: RegionNameSchema,
  state: RegionSchema.entries.state,
  ...v.required(RegionSchema.entries.geo, ['countries', 'continents']).entries,
  /** Cluster ids in the order they take over. */
  failover: v.array(v.number()),
  signaling: BaseUrlSchema,
  relays: v.pipe(v.array(RelayAddressSchema), v.minLength(1), v.maxLength(MAX_REGION_RELAYS)),
});

/** What the edge steers by; stored in Workers KV as JSON. */
export const SteeringTableSchema = v.strictObject({
  version: v.literal(1),
  clusters: v.pipe(
    v.array(SteeringClusterSchema),
    v.minLength(1),
    v.check((all) => areDistinct(all.map(({ cluster }) => cluster)), 'two clusters have one id'),
    v.check((all) => areDistinct(all.map(({ region }) => region)), 'two clusters have one region'),
  ),
});
export type SteeringTable = v.InferOutput<typeof SteeringTableSchema>;
export type SteeringCluster = SteeringTable['clusters'][number];

function areDistinct(values: readonly unknown[]): boolean {
  return new Set(values).size === values.length;
}

/** The edge's table, clusters in the order of their ids. */
export function steeringTable(
  footprint: Footprint,
  endpoints: Readonly<Record<string, RegionEndpoints>>,
): SteeringTable {
  const clusterOf = (name: string, region: Region): SteeringCluster => {
    const { signaling, relays } = endpointsOf(endpoints, name);
    return {
      cluster: region.id,
      region: name,
      state: region.state,
      ...region.geo,
      countries: region.geo.countries ?? [],
      continents: region.geo.continents ?? [],
      failover: region.failover.map((other) => footprint[other]!.id),
      signaling,
      relays: [...relays],
    };
  };
  const clusters = regionsById(footprint).map(([name, region]) => clusterOf(name, region));
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
  if (!found) throw new FootprintError([`${fileOf(name)}: the region has no endpoints`]);
  return found;
}
