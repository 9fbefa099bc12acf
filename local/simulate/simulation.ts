/** Replays a population against a footprint, by the very steering of the edge. */
import type { SteeringCluster, SteeringTable } from '../../protocol/footprint.ts';
import { distanceKm, steer, steeringIndex } from '../../workers/steering.ts';
import type { City } from './cities.ts';

/** Milliseconds of round trip that a client's own access takes. */
export const ACCESS_MS = 10;

/** Kilometers for each millisecond of round trip: light in fiber is 100, and cables are no straight lines. */
export const KM_PER_MS = 65;

export const PERCENTILES = [50, 75, 90, 95, 99] as const;

export interface CityOutcome {
  readonly city: City;
  /** Region whose relays the city sends to. */
  readonly ingress: string;
  /** Kilometers to it. */
  readonly km: number;
}

export interface Outcome {
  /** What was changed, in words: `as it is`, `without NAME`, `with NAME`. */
  readonly name: string;
  /** Kilometers to the first hop by percentile of the population. */
  readonly km: Readonly<Record<string, number>>;
  /** Estimated milliseconds of the round trip to it. */
  readonly rtt: Readonly<Record<string, number>>;
  /** Share of the population's sessions that each region holds, of 1. */
  readonly load: Readonly<Record<string, number>>;
  readonly cities: readonly CityOutcome[];
}

/** The footprint as it is, then without each active region, then with each planned one. */
export function simulateChanges(table: SteeringTable, cities: readonly City[]): Outcome[] {
  const { clusters } = table;
  const withState = (changed: SteeringCluster, state: SteeringCluster['state']) => ({
    ...table,
    clusters: clusters.map((cluster) => (cluster === changed ? { ...cluster, state } : cluster)),
  });
  const active = clusters.filter(({ state }) => state === 'active');
  const planned = clusters.filter(({ state }) => state === 'planned');
  const removable = active.length > 1 ? active : [];
  return [
    simulate('as it is', table, cities),
    ...removable.map((it) => simulate(`without ${it.region}`, withState(it, 'planned'), cities)),
    ...planned.map((it) => simulate(`with ${it.region}`, withState(it, 'active'), cities)),
  ];
}

/** @throws Error when no region of the table is active. */
export function simulate(name: string, table: SteeringTable, cities: readonly City[]): Outcome {
  const index = steeringIndex(table);
  const load = new Map<string, number>();
  const people = cities.reduce((sum, { population }) => sum + population, 0);
  const outcomes = cities.map((city) => {
    const place = {
      latitude: String(city.latitude),
      longitude: String(city.longitude),
      country: city.country,
    };
    const { ingress, clusters, peers } = steer(index, place);
    if (!ingress || peers === 0) throw new Error('No region is active; set one to state: active.');
    // Load decides between peers, which makes it even.
    for (const { region } of clusters.slice(0, peers)) {
      load.set(region, (load.get(region) ?? 0) + city.population / people / peers);
    }
    return { city, ingress: ingress.region, km: distanceKm(place, ingress)! };
  });
  const km = percentiles(outcomes, people);
  const shares = index.clusters
    .filter(({ state }) => state === 'active')
    .map(({ region }) => [region, load.get(region) ?? 0] as const);
  return {
    name,
    km,
    rtt: Object.fromEntries(Object.entries(km).map(([p, far]) => [p, ACCESS_MS + far / KM_PER_MS])),
    load: Object.fromEntries(shares),
    cities: outcomes,
  };
}

function percentiles(outcomes: readonly CityOutcome[], people: number): Record<string, number> {
  const sorted = outcomes.toSorted((a, b) => a.km - b.km);
  return Object.fromEntries(
    PERCENTILES.map((percentile) => {
      let left = (percentile / 100) * people;
      const found = sorted.find(({ city }) => (left -= city.population) <= 0) ?? sorted.at(-1);
      return [`p${percentile}`, found?.km ?? 0];
    }),
  );
}
