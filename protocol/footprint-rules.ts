/**
 * What holds between the fields of a region file, and between files. Every rule looks only at fields
 * that are good by themselves, so that one fault does not hide another.
 */
import ipaddr from 'ipaddr.js';
import * as v from 'valibot';
import {
  ColoSchema,
  ContinentSchema,
  CountSchema,
  CountrySchema,
  RegionNameSchema,
  RegionSchema,
  ZoneNameSchema,
  type Region,
} from './footprint-region.ts';

const FieldsSchema = v.record(v.string(), v.unknown());
/** Zones that the network is cut for, by their letters. */
const ZONE_LETTERS = 'abcdefgh';
const POOLS = ['relay', 'transceiver'] as const;

interface Pool {
  readonly min: number | undefined;
  readonly max: number | undefined;
}

/** The good fields of a file; of a list, its good items. */
interface GoodFields extends Readonly<Record<(typeof POOLS)[number], Pool>> {
  readonly id: number | undefined;
  readonly state: Region['state'] | undefined;
  readonly cidr: string | undefined;
  readonly azs: readonly string[];
  readonly countries: readonly string[];
  readonly continents: readonly string[];
  readonly overriddenCountries: readonly string[];
  readonly overriddenColos: readonly string[];
  readonly failover: readonly string[];
}

/** The file of a region, as faults name it. */
export function fileOf(region: string): string {
  return `regions/${region}.yaml`;
}

/**
 * @param files Parsed region files by region name, of any shape.
 * @returns Every break of a rule, with its file or files.
 */
export function ruleFaults(files: Readonly<Record<string, unknown>>): string[] {
  const regions = Object.entries(files).map(([name, file]) => [name, goodFields(file)] as const);
  return [
    ...regions.flatMap(([name, fields]) => {
      const faults = [...ownFaults(name, fields), ...failoverFaults(name, fields, files)];
      return faults.map((fault) => `${fileOf(name)}: ${fault}`);
    }),
    ...sharedFaults(regions),
    ...activeFaults(regions),
  ];
}

function goodFields(file: unknown): GoodFields {
  const { entries } = RegionSchema;
  const fields = fieldsOf(file);
  const geo = fieldsOf(fields.geo);
  const overrides = fieldsOf(geo.overrides);
  return {
    id: good(entries.id, fields.id),
    state: good(entries.state, fields.state),
    cidr: good(entries.cidr, fields.cidr),
    azs: goodItems(ZoneNameSchema, fields.azs),
    countries: goodItems(CountrySchema, geo.countries),
    continents: goodItems(ContinentSchema, geo.continents),
    overriddenCountries: goodItems(CountrySchema, overrides.countries),
    overriddenColos: goodItems(ColoSchema, overrides.colos),
    failover: goodItems(RegionNameSchema, fields.failover),
    relay: poolOf(fields.relay),
    transceiver: poolOf(fields.transceiver),
  };
}

function poolOf(value: unknown): Pool {
  const { min, max } = fieldsOf(value);
  return { min: good(CountSchema, min), max: good(CountSchema, max) };
}

function ownFaults(name: string, fields: GoodFields): string[] {
  const { cidr, azs, countries, continents, overriddenCountries, overriddenColos } = fields;
  return [
    ...(isPrivate(cidr) ? [] : [`cidr ${cidr} is not a private network of RFC 1918`]),
    ...repeated('azs', azs),
    ...azs
      .filter((zone) => !zone.startsWith(name))
      .map((zone) => `${zone} is not a zone of ${name}`),
    ...azs
      .filter((zone) => !ZONE_LETTERS.includes(zone.at(-1)!))
      .map((zone) => `azs: ${zone} has no room in the network, which is cut for zones a to h`),
    ...repeated('geo.countries', countries),
    ...repeated('geo.continents', continents),
    ...repeated('geo.overrides.countries', overriddenCountries),
    ...repeated('geo.overrides.colos', overriddenColos),
    ...POOLS.filter((pool) => (fields[pool].min ?? 0) > (fields[pool].max ?? Infinity)).map(
      (pool) => `${pool}.min exceeds ${pool}.max`,
    ),
  ];
}

function isPrivate(cidr: string | undefined): boolean {
  if (cidr === undefined) return true;
  if (!ipaddr.IPv4.isValidCIDRFourPartDecimal(cidr)) return false;
  return ipaddr.IPv4.networkAddressFromCIDR(cidr).range() === 'private';
}

function failoverFaults(
  name: string,
  { failover }: GoodFields,
  files: Readonly<Record<string, unknown>>,
): string[] {
  const unknown = failover.filter((other) => other !== name && !Object.hasOwn(files, other));
  return [
    ...repeated('failover', failover),
    ...(failover.includes(name) ? ['failover names the region itself'] : []),
    ...unknown.map(
      (other) => `failover names ${other}, which has no file: take it out of the list`,
    ),
  ];
}

function activeFaults(regions: readonly (readonly [string, GoodFields])[]): string[] {
  if (regions.length === 0 || regions.some(([, { state }]) => state === 'active')) return [];
  const names = regions.map(([name]) => name).toSorted();
  return [`regions/: none of ${names.join(', ')} has state: active, so nothing would take a call`];
}

/** A claim that two regions make would be served by one of them alone. */
function sharedFaults(regions: readonly (readonly [string, GoodFields])[]): string[] {
  const claims = new Map<string, string[]>();
  for (const [name, fields] of regions) {
    for (const claim of claimsOf(fields)) {
      claims.set(claim, [...(claims.get(claim) ?? []), fileOf(name)]);
    }
  }
  const list = new Intl.ListFormat('en');
  return [...claims]
    .filter(([, by]) => by.length > 1)
    .map(([claim, by]) => `${list.format(by)} ${by.length === 2 ? 'both' : 'all'} have ${claim}`);
}

function claimsOf(fields: GoodFields): Set<string> {
  const { id, cidr, countries, continents, overriddenCountries, overriddenColos } = fields;
  return new Set([
    ...(id === undefined ? [] : [`id ${id}`]),
    ...(cidr === undefined ? [] : [`cidr ${cidr}`]),
    ...countries.map((country) => `country ${country}`),
    ...continents.map((continent) => `continent ${continent}`),
    ...overriddenCountries.map((country) => `an override of country ${country}`),
    ...overriddenColos.map((colo) => `an override of colo ${colo}`),
  ]);
}

function repeated(field: string, items: readonly string[]): string[] {
  const twice = new Set(items.filter((item, at) => items.indexOf(item) !== at));
  return [...twice].map((item) => `${field} has ${item} twice`);
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return good(FieldsSchema, value) ?? {};
}

function good<S extends v.GenericSchema>(schema: S, value: unknown): v.InferOutput<S> | undefined {
  const result = v.safeParse(schema, value);
  return result.success ? result.output : undefined;
}

function goodItems(schema: v.GenericSchema<string>, value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item) => v.is(schema, item)) : [];
}
