import * as fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Region } from '../../protocol/footprint-region.ts';
import {
  checkFootprint,
  clusterRoutes,
  steeringTable,
  type Footprint,
} from '../../protocol/footprint.ts';
import { MAX_REGION_RELAYS } from '../../protocol/signature.ts';
import { describeWith, TERRAFORM } from '../support/optional-program.ts';
import { tablesOf, VIPS, type Tables } from './footprints.ts';
import { Project } from './project.ts';
import { realRegions, regionLike, type Regions } from './region-files.ts';

/** Random footprints, all in one run. */
const FOOTPRINTS = 20;

const RELAY_PORT = 3478;
const TRUNK_PORT = 3479;

describeWith(TERRAFORM, 'the tables of TypeScript and of Terraform are the same', () => {
  let project: Project;

  beforeAll(async () => {
    project = await Project.create();
  });
  afterAll(() => project[Symbol.asyncDispose]());

  test('for the regions of this repository, and for any others', { timeout: 240_000 }, async () => {
    const footprints = [await realRegions(), ...fc.sample(footprint(), FOOTPRINTS)].map((files) =>
      checkFootprint(files),
    );
    const tables = await tablesOf(
      project,
      footprints.map((files) => ({ files })),
    );
    for (const [at, regions] of footprints.entries()) {
      const found = tables[at]!;
      expect(found.steering).toEqual(steeringTable(regions, endpointsIn(found)));
      expect(found.routing).toEqual(clusterRoutes(regions, trunksIn(found)));
      expect(Object.values(found.peerings)).toEqual(pairsOf(regions));
    }
  });
});

/** What the cloud assigns and no file says. */
function endpointsIn({ signaling_hosts }: Tables) {
  const relays = (['udp', 'tcp'] as const).flatMap((transport) =>
    VIPS.map((address) => ({ address, port: RELAY_PORT, transport })),
  );
  expect(relays.length).toBeLessThanOrEqual(MAX_REGION_RELAYS);
  return Object.fromEntries(
    Object.entries(signaling_hosts).map(([name, host]) => [
      name,
      { signaling: `https://${host}`, relays },
    ]),
  );
}

function trunksIn({ load_balancer_addresses }: Tables) {
  return Object.fromEntries(
    Object.entries(load_balancer_addresses).map(([name, zones]) => [
      name,
      Object.values(zones).map((address) => ({ address, port: TRUNK_PORT })),
    ]),
  );
}

/** Every two regions with infrastructure, once, in the order of their names. */
function pairsOf(regions: Footprint): { requester: string; accepter: string }[] {
  const names = Object.keys(regions)
    .filter((name) => regions[name]!.state !== 'planned')
    .toSorted();
  return names.flatMap((requester, at) =>
    names.slice(at + 1).map((accepter) => ({ requester, accepter })),
  );
}

const NAMES = [
  'af-south-1',
  'ap-southeast-2',
  'eu-north-1',
  'me-central-1',
  'sa-east-1',
  'us-gov-west-1',
];
const COUNTRIES = ['AE', 'AU', 'BR', 'NO', 'SE', 'US', 'ZA'];
const COLOS = ['ARN', 'DXB', 'GRU', 'JNB', 'SYD'];
const CONTINENTS = ['AF', 'AN', 'AS', 'EU', 'NA', 'OC', 'SA'] as const;

/** Regions in which everything that tables are made of varies. */
function footprint(): fc.Arbitrary<Regions> {
  const regions = fc.uniqueArray(fc.constantFrom(...NAMES), { minLength: 1 }).chain((names) =>
    fc.tuple(
      fc.constant(names),
      fc.uniqueArray(fc.integer({ min: 1, max: 0xffff }), {
        minLength: names.length,
        maxLength: names.length,
      }),
      fc.tuple(...names.map((name, at) => regionOf(name, at, names))),
    ),
  );
  return regions.map(([names, ids, files]) =>
    Object.fromEntries(names.map((name, at) => [name, { ...files[at]!, id: ids[at]! }])),
  );
}

function regionOf(name: string, at: number, names: readonly string[]): fc.Arbitrary<Region> {
  const own = <T>(items: readonly T[]) => items.filter((_, place) => place % names.length === at);
  const some = <T>(items: readonly T[]) => optional(fc.subarray([...items]));
  const geo = fc.record({
    latitude: fc.double({ min: -90, max: 90, noNaN: true }),
    longitude: fc.double({ min: -180, max: 180, noNaN: true }),
    countries: some(own(COUNTRIES)),
    continents: some(own(CONTINENTS)),
    weight: optional(fc.double({ min: 0.1, max: 10, noNaN: true })),
    overrides: optional(
      fc.record({ countries: some(own(COUNTRIES)), colos: some(own(COLOS)) }).map(withoutUndefined),
    ),
  });
  return fc
    .record({
      state: fc.constantFrom('planned' as const, 'active' as const, 'draining' as const),
      failover: fc.shuffledSubarray(names.filter((other) => other !== name)),
      letters: fc.shuffledSubarray(['a', 'b', 'c', 'd', 'e', 'f'], { minLength: 2 }),
      geo: geo.map(withoutUndefined),
    })
    .map(({ letters, state, failover, geo: place }) => {
      const region = regionLike(name, at + 1);
      // The first is one that calls can go to.
      region.state = at === 0 ? 'active' : state;
      region.failover = failover;
      region.geo = place;
      region.azs = letters.map((letter) => name + letter);
      return region;
    });
}

function optional<T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> {
  return fc.option(value, { nil: undefined });
}

function withoutUndefined<T extends object>(fields: T): T {
  return JSON.parse(JSON.stringify(fields));
}
