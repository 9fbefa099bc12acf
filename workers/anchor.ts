/**
 * The point a client is steered from. Of what Cloudflare tells, the most exact that is believable counts:
 * coordinates, else the country, the colo, the continent.
 *
 * - A VPN, a proxy or Tor shows the coordinates of its exit. They are right all the same: the client's packets
 *   pass there.
 * - Coordinates further from the colo than light gets in the round trip are false.
 */
import type { SteeringCluster } from '../protocol/footprint.ts';
import { coloCoordinates } from './colos.ts';
import type { Place } from './client-place.ts';
import { kilometers, readCoordinates, unitVector, type Vector } from './sphere.ts';

/** Kilometers from a client to its colo at most, for each millisecond of their round trip: light in vacuum. */
const KM_PER_RTT_MS = 150;

/** Kilometers that coordinates may be off without being false: those of cities, on either side. */
const COORDINATE_SLACK_KM = 500;

/** Kilometers of cable that one millisecond of round trip stands for: light in fiber, by no straight way. */
const KM_PER_RTT_MS_USUAL = 65;

/** Milliseconds beyond the usual round trip that only a detour explains. */
const DETOUR_MS = 100;

/** What a client's region was chosen by. */
export type SteeringBasis =
  'override' | 'coordinates' | 'country' | 'colo' | 'continent' | 'default';

export interface Anchor {
  readonly basis: Exclude<SteeringBasis, 'override'>;
  /** In words, for people. */
  readonly reason: string;
  readonly at: Vector;
}

/** @param serving Clusters that are not just planned, in the order of their ids. */
export function anchorOf(serving: readonly SteeringCluster[], place: Place): Anchor {
  return (
    byCoordinates(place) ??
    byCountry(serving, place) ??
    byColo(place) ??
    byContinent(serving, place) ??
    byDefault(serving)
  );
}

function byCoordinates(place: Place): Anchor | undefined {
  const { latitude, longitude, colo = '', rtt = 0 } = place;
  const coordinates = readCoordinates(latitude, longitude);
  if (!coordinates) return undefined;
  const at = unitVector(coordinates);
  const reason = `nearest to ${coordinates.join(', ')}`;
  const gate = coloCoordinates(colo);
  if (!gate || rtt <= 0) return { basis: 'coordinates', reason, at };
  const toColo = kilometers(at, unitVector(gate));
  if (toColo > rtt * KM_PER_RTT_MS + COORDINATE_SLACK_KM) return undefined;
  const isDetour = rtt > toColo / KM_PER_RTT_MS_USUAL + DETOUR_MS;
  const note = `, though ${rtt} ms to ${colo} tell of a detour, as by VPN or satellite`;
  return { basis: 'coordinates', reason: isDetour ? reason + note : reason, at };
}

function byCountry(serving: readonly SteeringCluster[], { country }: Place): Anchor | undefined {
  const found = country && serving.find(({ countries }) => countries.includes(country));
  if (!found) return undefined;
  return { basis: 'country', reason: `serves country ${country}`, at: whereIs(found) };
}

function byColo({ colo = '' }: Place): Anchor | undefined {
  const gate = coloCoordinates(colo);
  return gate && { basis: 'colo', reason: `nearest to colo ${colo}`, at: unitVector(gate) };
}

function byContinent(
  serving: readonly SteeringCluster[],
  { continent }: Place,
): Anchor | undefined {
  const found =
    continent && serving.find(({ continents }) => continents.some((code) => code === continent));
  if (!found) return undefined;
  return { basis: 'continent', reason: `serves continent ${continent}`, at: whereIs(found) };
}

function byDefault(serving: readonly SteeringCluster[]): Anchor {
  const fallback = serving.find(({ state }) => state === 'active') ?? serving[0];
  return {
    basis: 'default',
    reason: 'the default, for nothing believable is known of the place',
    at: fallback ? whereIs(fallback) : unitVector([0, 0]),
  };
}

function whereIs({ latitude, longitude }: SteeringCluster): Vector {
  return unitVector([latitude, longitude]);
}
