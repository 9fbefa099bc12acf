/** Where a call from here would go, and why. */
import type { SteeringCluster } from '../protocol/footprint.ts';
import type { RosterEntry } from '../protocol/roster.ts';
import { candidates } from './candidates.ts';
import { footprintFor, rostersFor, type EdgeContext } from './edge.ts';
import { hasRoom, whyNone } from './pick.ts';
import { placeOf } from './place.ts';
import { distanceKm, steer, type Steering } from './steering.ts';
import { suspects } from './suspects.ts';

/** `GET /v1/where` */
export async function where(context: EdgeContext): Promise<Response> {
  const place = placeOf(context.req.raw);
  const steering = steer(await footprintFor(context), place);
  const { basis, clusters, ingress } = steering;
  const readRoster = rostersFor(context);
  const rosters = new Map<number, readonly RosterEntry[]>();
  const keepRoster = async (cluster: SteeringCluster) => {
    const entries = await readRoster(cluster);
    rosters.set(cluster.cluster, entries);
    return entries;
  };
  const first = await candidates(steering, keepRoster, suspects).next();
  const chosen = first.value?.cluster;
  return context.json(
    {
      colo: place.colo ?? null,
      /** Region and id of the cluster the session would live in; null when none takes one. */
      region: chosen?.region ?? null,
      cluster: chosen?.cluster ?? null,
      ingress: ingress ? { region: ingress.region, relays: ingress.relays } : null,
      basis,
      reason: explain(steering, chosen, rosters),
      clusters: clusters.map((cluster) => {
        const km = distanceKm(place, cluster);
        const distance = km === undefined ? null : Math.round(km);
        return { region: cluster.region, cluster: cluster.cluster, distanceKm: distance };
      }),
    },
    200,
    { 'cache-control': 'no-store' },
  );
}

function explain(
  { clusters, peers, reason }: Steering,
  chosen: SteeringCluster | undefined,
  rosters: ReadonlyMap<number, readonly RosterEntry[]>,
): string {
  const [home] = clusters;
  if (!home || chosen === home) return reason;
  if (suspects.has(home.cluster)) {
    return `${home.region} comes first (${reason}), but it failed a call a moment ago`;
  }
  const entries = rosters.get(home.cluster);
  if (chosen && clusters.indexOf(chosen) < peers && (!entries || entries.some(hasRoom))) {
    return `${home.region} comes first (${reason}), but ${chosen.region} is about as near and emptier`;
  }
  return `${home.region} comes first (${reason}), but ${whyNone(entries)}`;
}
