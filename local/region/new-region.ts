/** A region file that fits beside the others: next free id and network, place, and who takes over. */
import type { Ledger } from '../../protocol/footprint-ledger.ts';
import type { Region } from '../../protocol/footprint-region.ts';
import type { Footprint } from '../../protocol/footprint.ts';
import { kilometers, unitVector } from '../../workers/sphere.ts';
import { AWS_REGIONS } from './aws-regions.ts';

/** Zones of a new region: the fewest that outlive the loss of one. */
const ZONES = 2;

/** What a new region starts with, as the regions that are there. */
const RELAY = { instance_type: 'c7gn.large', min: 2, max: 8 };
const TRANSCEIVER = { instance_type: 'c7g.large', min: 2, max: 6 };
const REDIS = { node_type: 'cache.r7g.large', replicas: 1 };

/** The last of 10.1.0.0/16, 10.2.0.0/16 and so on. */
const MAX_NETWORK = 255;

/** What the operator gives instead of what would be chosen. */
export interface Wishes {
  readonly id?: number | undefined;
  readonly cidr?: string | undefined;
  readonly azs?: readonly string[] | undefined;
  readonly latitude?: number | undefined;
  readonly longitude?: number | undefined;
  readonly failover?: readonly string[] | undefined;
}

/** Why no region can be made; the message says what to give. */
export class RegionError extends Error {
  override readonly name = 'RegionError';
}

/**
 * @returns A planned region. What was wished for is taken as it is: check the footprint with it.
 * @throws RegionError
 */
export function newRegion(
  name: string,
  wishes: Wishes,
  footprint: Footprint,
  ledger: Ledger,
): Region {
  if (Object.hasOwn(footprint, name)) {
    throw new RegionError(`There is a region ${name} already: edit regions/${name}.yaml.`);
  }
  const before = Object.hasOwn(ledger, name) ? ledger[name] : undefined;
  const used = [...Object.values(footprint), ...Object.values(ledger)];
  const { latitude, longitude, azs } = placeOf(name, wishes);
  return {
    id: wishes.id ?? before?.id ?? Math.max(0, ...used.map(({ id }) => id)) + 1,
    state: 'planned',
    cidr: wishes.cidr ?? before?.cidr ?? nextNetwork(used.map(({ cidr }) => cidr)),
    azs: [...azs],
    geo: { latitude, longitude },
    failover: [...(wishes.failover ?? nearestActive({ latitude, longitude }, footprint))],
    relay: RELAY,
    transceiver: TRANSCEIVER,
    redis: REDIS,
  };
}

function placeOf(name: string, { latitude, longitude, azs }: Wishes) {
  const known = Object.hasOwn(AWS_REGIONS, name) ? AWS_REGIONS[name] : undefined;
  const place = {
    latitude: latitude ?? known?.latitude,
    longitude: longitude ?? known?.longitude,
    azs:
      azs ??
      known?.zones
        .slice(0, ZONES)
        .split('')
        .map((letter) => name + letter),
  };
  const { latitude: north, longitude: east, azs: zones } = place;
  if (north === undefined || east === undefined || zones === undefined) {
    throw new RegionError(
      `${name} is no region that this knows: see npm run region -- list --all, or give --latitude, --longitude and --azs.`,
    );
  }
  return { latitude: north, longitude: east, azs: zones };
}

function nextNetwork(used: readonly string[]): string {
  for (let second = 1; second <= MAX_NETWORK; second++) {
    const cidr = `10.${second}.0.0/16`;
    if (!used.includes(cidr)) return cidr;
  }
  throw new RegionError('Every network of 10.0.0.0/8 is or was in use: give --cidr.');
}

function nearestActive(
  place: { readonly latitude: number; readonly longitude: number },
  footprint: Footprint,
): string[] {
  const here = unitVector([place.latitude, place.longitude]);
  const distance = ({ geo }: Region) => kilometers(here, unitVector([geo.latitude, geo.longitude]));
  return Object.entries(footprint)
    .filter(([, { state }]) => state === 'active')
    .toSorted(([, a], [, b]) => distance(a) - distance(b))
    .slice(0, 1)
    .map(([name]) => name);
}

/** The text of the file, as those of the project are written. */
export function regionText(region: Region): string {
  const { id, state, cidr, azs, geo, failover, relay, transceiver, redis } = region;
  return `# yaml-language-server: $schema=region.schema.json
id: ${id}
state: ${state}
cidr: ${cidr}
azs: ${list(azs)}
geo:
  latitude: ${geo.latitude}
  longitude: ${geo.longitude}
failover: ${list(failover)}
relay: ${map(relay)}
transceiver: ${map(transceiver)}
redis: ${map(redis)}
`;
}

function list(items: readonly string[]): string {
  return `[${items.join(', ')}]`;
}

function map(fields: object): string {
  const pairs = Object.entries(fields).map(([key, value]) => `${key}: ${value}`);
  return `{ ${pairs.join(', ')} }`;
}
