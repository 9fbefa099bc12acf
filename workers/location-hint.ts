/** Where a cluster's roster should live: Cloudflare takes a hint when the object is made. */
import type { SteeringCluster } from '../protocol/footprint.ts';
import { kilometers, unitVector, type Coordinates } from './sphere.ts';

/** A place in the middle of the data centers of each hint. */
const HINTS: readonly (readonly [DurableObjectLocationHint, Coordinates])[] = [
  ['wnam', [37.3, -121.9]],
  ['enam', [39.0, -77.5]],
  ['sam', [-23.5, -46.6]],
  ['weur', [50.1, 4.5]],
  ['eeur', [50.1, 19.9]],
  ['apac', [22.3, 114.2]],
  ['apac-ne', [35.7, 139.7]],
  ['apac-se', [1.4, 103.8]],
  ['oc', [-33.9, 151.2]],
  ['afr', [-26.2, 28.0]],
  ['me', [25.2, 55.3]],
];

const places = HINTS.map(([hint, at]) => ({ hint, at: unitVector(at) }));

export function locationHint({
  latitude,
  longitude,
}: Pick<SteeringCluster, 'latitude' | 'longitude'>): DurableObjectLocationHint {
  const from = unitVector([latitude, longitude]);
  const ranked = places.map(({ hint, at }) => ({ hint, km: kilometers(from, at) }));
  return ranked.reduce((best, other) => (other.km < best.km ? other : best)).hint;
}
