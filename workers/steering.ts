/**
 * Steering: which region takes a client's media, and which clusters its session may live in, in the order
 * to try them. Pure.
 */
import type { SteeringCluster, SteeringTable } from '../protocol/footprint.ts';
import { anchorOf, type Anchor, type SteeringBasis } from './anchor.ts';
import type { Place } from './client-place.ts';
import { kilometers, readCoordinates, unitVector, type Vector } from './sphere.ts';

/** Clusters by distance that are considered; those behind them would never get their turn. */
export const NEAREST = 16;

/** A cluster is about as near as the nearest when it is at most so much further: a share, and kilometers. */
const PEER_FACTOR = 1.2;
const PEER_KM = 100;

/** Of a region that says nothing else. */
const DEFAULT_WEIGHT = 1;

export interface Steering {
  readonly basis: SteeringBasis;
  /** In words, for people. */
  readonly reason: string;
  /** Whose relays the client sends to; undefined when no region takes clients. */
  readonly ingress: SteeringCluster | undefined;
  /** Active clusters in the order to try them. */
  readonly clusters: readonly SteeringCluster[];
  /** How many of them, from the first, are about equally near, so that load may decide. */
  readonly peers: number;
}

/** A steering table made ready to be asked. */
export interface SteeringIndex {
  readonly clusters: readonly SteeringCluster[];
  /** x, y, z of each cluster in turn. */
  readonly vectors: Float64Array;
  /** What the square of a distance counts for, of each cluster: less the more it weighs. */
  readonly scales: Float64Array;
  /** All but the planned ones. */
  readonly serving: readonly SteeringCluster[];
  readonly byColo: ReadonlyMap<string, SteeringCluster>;
  readonly byCountry: ReadonlyMap<string, SteeringCluster>;
}

export function steeringIndex(table: SteeringTable): SteeringIndex {
  const clusters = table.clusters.toSorted((a, b) => a.cluster - b.cluster);
  const serving = clusters.filter(({ state }) => state !== 'planned');
  const vectors = Float64Array.from(
    clusters.flatMap(({ latitude, longitude }) => [...unitVector([latitude, longitude])]),
  );
  const scales = Float64Array.from(clusters, ({ weight = DEFAULT_WEIGHT }) => weight ** -2);
  return {
    clusters,
    vectors,
    scales,
    serving,
    byColo: overrides(serving, 'colos'),
    byCountry: overrides(serving, 'countries'),
  };
}

/**
 * The region that an override names is a client's home, else the nearest, its distance divided by its weight.
 * Its cluster comes first, then those of its failover list, then all others by distance from the client. A
 * region that is draining takes no session, but keeps its place as home, so that its failover list says who
 * takes over; a planned one does not count.
 */
export function steer(index: SteeringIndex, place: Place): Steering {
  const anchor = anchorOf(index.serving, place);
  const near = nearest(index, anchor.at);
  const forced = overrideOf(index, place);
  const home = forced?.home ?? near[0];
  const reason = forced?.reason ?? anchor.reason;
  const order = home ? [home, ...takeover(index, home), ...near] : [];
  const clusters = [...new Set(order)].filter(isActive);
  const ingress = home && isActive(home) ? home : (near.find(isActive) ?? home);
  return {
    basis: forced ? 'override' : anchor.basis,
    reason: explain(reason, home, clusters[0]),
    ingress,
    clusters,
    peers:
      forced || clusters[0] !== near[0] ? Math.min(1, clusters.length) : peers(anchor, clusters),
  };
}

/** Kilometers from a place to a cluster along a great circle; undefined without coordinates. */
export function distanceKm(
  { latitude, longitude }: Place,
  cluster: SteeringCluster,
): number | undefined {
  const from = readCoordinates(latitude, longitude);
  return from && kilometers(unitVector(from), unitVector([cluster.latitude, cluster.longitude]));
}

function overrides(
  serving: readonly SteeringCluster[],
  kind: 'colos' | 'countries',
): Map<string, SteeringCluster> {
  return new Map(
    serving.flatMap((cluster) =>
      (cluster.overrides?.[kind] ?? []).map((code) => [code, cluster] as const),
    ),
  );
}

/** A colo is more exact than a country. */
function overrideOf({ byColo, byCountry }: SteeringIndex, { colo = '', country = '' }: Place) {
  const ofColo = byColo.get(colo);
  if (ofColo) return { home: ofColo, reason: `takes all clients of colo ${colo}` };
  const ofCountry = byCountry.get(country);
  return ofCountry && { home: ofCountry, reason: `takes all clients of country ${country}` };
}

function takeover(index: SteeringIndex, home: SteeringCluster): SteeringCluster[] {
  const found = home.failover.map((id) => index.clusters.find(({ cluster }) => cluster === id));
  return found.filter((cluster) => cluster !== undefined);
}

function isActive({ state }: SteeringCluster): boolean {
  return state === 'active';
}

function explain(
  reason: string,
  home: SteeringCluster | undefined,
  first: SteeringCluster | undefined,
): string {
  if (!home) return 'every region is only planned';
  if (!first) return `no region is active; ${home.region} is ${home.state}`;
  if (first === home) return reason;
  return `takes over for ${home.region}, which is ${home.state}; that one is ${reason}`;
}

/** Peers of the first, which must follow it in the order: a failover list may put others between. */
function peers({ at }: Anchor, clusters: readonly SteeringCluster[]): number {
  const weighed = clusters.map(
    ({ latitude, longitude, weight = DEFAULT_WEIGHT }) =>
      kilometers(at, unitVector([latitude, longitude])) / weight,
  );
  const limit = weighed[0]! * PEER_FACTOR + PEER_KM;
  const end = weighed.findIndex((distance) => distance > limit);
  return end === -1 ? clusters.length : end;
}

/** The {@link NEAREST} that are not just planned, near to far; equally near ones by their ids. */
function nearest(index: SteeringIndex, [x, y, z]: Vector): SteeringCluster[] {
  const { clusters, vectors, scales } = index;
  const found: number[] = [];
  const keys: number[] = [];
  for (let i = 0; i < clusters.length; i++) {
    if (clusters[i]!.state === 'planned') continue;
    const cosine = x * vectors[3 * i]! + y * vectors[3 * i + 1]! + z * vectors[3 * i + 2]!;
    // Half the square of the chord: in the order of distances.
    const key = (1 - cosine) * scales[i]!;
    let at = keys.length;
    while (at > 0 && keys[at - 1]! > key) at--;
    if (at >= NEAREST) continue;
    keys.splice(at, 0, key);
    found.splice(at, 0, i);
    if (keys.length > NEAREST) {
      keys.pop();
      found.pop();
    }
  }
  return found.map((i) => clusters[i]!);
}
