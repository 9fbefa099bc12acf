/** Where a call from here would go, and why. */
import type { RosterEntry } from '../protocol/roster.ts';
import { candidates } from './candidates.ts';
import { footprintFor, rostersFor, type EdgeContext } from './edge.ts';
import { whyNone } from './pick.ts';
import { placeOf } from './place.ts';
import { distanceKm, steer } from './steering.ts';
import { suspects } from './suspects.ts';

/** `GET /v1/where` */
export async function where(context: EdgeContext): Promise<Response> {
  const place = placeOf(context.req.raw);
  const { basis, reason, clusters, ingress } = steer(await footprintFor(context), place);
  const [home] = clusters;
  const readRoster = rostersFor(context);
  const rosters = new Map<number, readonly RosterEntry[]>();
  const keepRoster = async (cluster: number) => {
    const entries = await readRoster(cluster);
    rosters.set(cluster, entries);
    return entries;
  };
  const choices = candidates(clusters, keepRoster, suspects);
  const first = await choices.next();
  const chosen = first.value?.cluster;
  const isPassed = home !== undefined && chosen !== home;
  return context.json(
    {
      colo: place.colo ?? null,
      /** Region and id of the cluster the session would live in; null when none takes one. */
      region: chosen?.region ?? null,
      cluster: chosen?.cluster ?? null,
      ingress: ingress ? { region: ingress.region, relays: ingress.relays } : null,
      basis,
      reason: isPassed
        ? `${home.region} comes first (${reason}), but ${
            suspects.has(home.cluster)
              ? 'it failed a call a moment ago'
              : whyNone(rosters.get(home.cluster))
          }`
        : reason,
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
