/**
 * Steering: which region takes a client's media, and which clusters its session may live in, near to
 * far. Pure; distances are dot products of unit vectors, so no trigonometry per candidate.
 */
import type { SteeringCluster, SteeringTable } from '../protocol/footprint.ts';

/** Mean radius of the earth, IUGG. */
const EARTH_RADIUS_KM = 6371.0088;

const DECIMAL = /^-?\d{1,3}(\.\d{1,15})?$/;

/** What is known of where a client is, as `request.cf` spells it. Any of it may be missing or wrong. */
export interface Place {
  readonly colo?: string | undefined;
  /** Degrees as decimal text. */
  readonly latitude?: string | undefined;
  readonly longitude?: string | undefined;
  /** ISO 3166-1 alpha-2, or `T1` for Tor and `XX` for unknown. */
  readonly country?: string | undefined;
  readonly continent?: string | undefined;
}

/** What a client's region was chosen by. */
export type SteeringBasis = 'coordinates' | 'country' | 'continent' | 'default';

export interface Steering {
  readonly basis: SteeringBasis;
  /** In words, for people. */
  readonly reason: string;
  /** Whose relays the client sends to; undefined when no region takes clients. */
  readonly ingress: SteeringCluster | undefined;
  /** Active clusters in the order to try them. */
  readonly clusters: readonly SteeringCluster[];
}

/** A steering table made ready to be asked. */
export interface SteeringIndex {
  readonly clusters: readonly SteeringCluster[];
  /** x, y, z of each cluster in turn. */
  readonly vectors: Float64Array;
}

type Vector = readonly [number, number, number];

interface Anchor {
  readonly basis: SteeringBasis;
  readonly reason: string;
  readonly at: Vector;
}

export function steeringIndex(table: SteeringTable): SteeringIndex {
  const clusters = table.clusters.toSorted((a, b) => a.cluster - b.cluster);
  const vectors = Float64Array.from(
    clusters.flatMap(({ latitude, longitude }) => [...unitVector(latitude, longitude)]),
  );
  return { clusters, vectors };
}

/**
 * The nearest region is a client's home. Its cluster comes first, then those of its failover list,
 * then all others by distance from the client. A region that is draining takes no session, but keeps
 * its place as home, so that its failover list says who takes over; a planned one does not count.
 */
export function steer(index: SteeringIndex, place: Place): Steering {
  const anchor = anchorOf(index, place);
  const near = byDistance(index, anchor.at).filter(({ state }) => state !== 'planned');
  const home = near[0];
  const order = home ? [home, ...takeover(index, home), ...near] : [];
  const clusters = [...new Set(order)].filter(({ state }) => state === 'active');
  const ingress = near.find(({ state }) => state === 'active') ?? home;
  return { basis: anchor.basis, reason: explain(anchor, home, clusters[0]), ingress, clusters };
}

/** Kilometers from a place to a cluster along a great circle; undefined without coordinates. */
export function distanceKm(place: Place, cluster: SteeringCluster): number | undefined {
  const from = coordinatesOf(place);
  if (!from) return undefined;
  const cosine = dot(unitVector(...from), unitVector(cluster.latitude, cluster.longitude));
  return Math.acos(Math.min(1, Math.max(-1, cosine))) * EARTH_RADIUS_KM;
}

function anchorOf(index: SteeringIndex, place: Place): Anchor {
  const coordinates = coordinatesOf(place);
  if (coordinates) {
    const [latitude, longitude] = coordinates;
    const reason = `nearest to ${latitude}, ${longitude}`;
    return { basis: 'coordinates', reason, at: unitVector(latitude, longitude) };
  }
  const { country, continent } = place;
  const serving = index.clusters.filter(({ state }) => state !== 'planned');
  const ofCountry = country && serving.find(({ countries }) => countries.includes(country));
  if (ofCountry) {
    const reason = `serves country ${country}, all that is known of the place`;
    return { basis: 'country', reason, at: whereIs(ofCountry) };
  }
  const ofContinent =
    continent && serving.find(({ continents }) => continents.some((code) => code === continent));
  if (ofContinent) {
    const reason = `serves continent ${continent}, all that is known of the place`;
    return { basis: 'continent', reason, at: whereIs(ofContinent) };
  }
  const fallback = serving.find(({ state }) => state === 'active') ?? serving[0];
  return {
    basis: 'default',
    reason: 'the default, for nothing is known of the place',
    at: fallback ? whereIs(fallback) : unitVector(0, 0),
  };
}

function takeover(index: SteeringIndex, home: SteeringCluster): SteeringCluster[] {
  const found = home.failover.map((id) => index.clusters.find(({ cluster }) => cluster === id));
  return found.filter((cluster) => cluster !== undefined);
}

function explain(
  anchor: Anchor,
  home: SteeringCluster | undefined,
  first: SteeringCluster | undefined,
): string {
  if (!home) return 'every region is only planned';
  if (!first) return `no region is active; ${home.region} is ${home.state}`;
  if (first === home) return anchor.reason;
  return `takes over for ${home.region}, which is ${home.state}; that one is ${anchor.reason}`;
}

/** Both or none: a latitude alone is no place. */
function coordinatesOf(place: Place): readonly [number, number] | undefined {
  const latitude = degrees(place.latitude, 90);
  const longitude = degrees(place.longitude, 180);
  return latitude === undefined || longitude === undefined ? undefined : [latitude, longitude];
}

function degrees(text: string | undefined, limit: number): number | undefined {
  if (typeof text !== 'string' || !DECIMAL.test(text)) return undefined;
  const value = Number(text);
  return Math.abs(value) <= limit ? value : undefined;
}

function byDistance(index: SteeringIndex, from: Vector): SteeringCluster[] {
  const { clusters, vectors } = index;
  const ranked = clusters.map((cluster, i) => {
    const at = 3 * i;
    return { cluster, cosine: dot(from, [vectors[at]!, vectors[at + 1]!, vectors[at + 2]!]) };
  });
  return ranked.toSorted((a, b) => b.cosine - a.cosine).map(({ cluster }) => cluster);
}

function whereIs({ latitude, longitude }: SteeringCluster): Vector {
  return unitVector(latitude, longitude);
}

function unitVector(latitude: number, longitude: number): Vector {
  const phi = (latitude * Math.PI) / 180;
  const lambda = (longitude * Math.PI) / 180;
  return [Math.cos(phi) * Math.cos(lambda), Math.cos(phi) * Math.sin(lambda), Math.sin(phi)];
}

function dot(a: Vector, b: Vector): number {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}
