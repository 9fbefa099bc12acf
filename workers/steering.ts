/**
 * Steering: which region takes a client's media, and which clusters its session may live in, in the order
 * to try them. Pure.
 */
import type { SteeringCluster, SteeringTable } from '../protocol/footprint.ts';
import { anchorOf, type SteeringBasis } from './anchor.ts';
import type { Place } from './client-place.ts';
import { arcKilometers, kilometers, readCoordinates, unitVector, type Vector } from './sphere.ts';

/** Active clusters by distance that are considered; those behind them would never get their turn. */
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
  /** Of each cluster in turn. */
  readonly weights: Float64Array;
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
  const weights = Float64Array.from(clusters, ({ weight = DEFAULT_WEIGHT }) => weight);
  return {
    clusters,
    vectors,
    weights,
    serving,
    byColo: overrides(serving, 'colos'),
    byCountry: overrides(serving, 'countries'),
  };
}

/**
 * The region that an override names is a client's home, else the nearest, its distance divided by its weight.
 * The order is the home; without an override those about as near; the home's failover list; all others by
 * distance from the client. A region that is draining takes no session, but keeps its place as home, so that
 * those about as near and its failover list take over; a planned one does not count.
 */
export function steer(index: SteeringIndex, place: Place): Steering {
  const anchor = anchorOf(index.serving, place);
  const { nearestOfAll, near, equals } = nearest(index, anchor.at);
  const forced = overrideOf(index, place);
  const home = forced?.home ?? nearestOfAll;
  const reason = forced?.reason ?? anchor.reason;
  const first = forced ? [forced.home] : near.slice(0, equals);
  const order = home ? [...first, ...takeover(index, home), ...near] : [];
  const clusters = [...new Set(order)].filter(isActive);
  const ingress = home && isActive(home) ? home : (near[0] ?? home);
  return {
    basis: forced ? 'override' : anchor.basis,
    reason: explain(reason, home, clusters[0]),
    ingress,
    clusters,
    peers: Math.min(clusters.length, Math.max(1, first.filter(isActive).length)),
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

/**
 * The {@link NEAREST} that are active, near to far, and how many of them are about as near as the nearest of all
 * that are not just planned.
 */
function nearest({ clusters, vectors, weights }: SteeringIndex, [x, y, z]: Vector) {
  let nearestOfAll: SteeringCluster | undefined;
  let least = Infinity;
  const near: SteeringCluster[] = [];
  /** Kilometers divided by weight. */
  const distances: number[] = [];
  for (let i = 0; i < clusters.length; i++) {
    const cluster = clusters[i]!;
    if (cluster.state === 'planned') continue;
    const cosine = x * vectors[3 * i]! + y * vectors[3 * i + 1]! + z * vectors[3 * i + 2]!;
    const distance = arcKilometers(cosine) / weights[i]!;
    // Equally near ones stay in the order of their ids.
    if (distance < least) {
      least = distance;
      nearestOfAll = cluster;
    }
    if (!isActive(cluster)) continue;
    let at = distances.length;
    while (at > 0 && distances[at - 1]! > distance) at--;
    if (at >= NEAREST) continue;
    distances.splice(at, 0, distance);
    near.splice(at, 0, cluster);
    if (distances.length > NEAREST) {
      distances.pop();
      near.pop();
    }
  }
  const limit = least * PEER_FACTOR + PEER_KM;
  const equals = distances.filter((distance) => distance <= limit).length;
  return { nearestOfAll, near, equals };
}
