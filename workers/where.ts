/** Where a call from here would go, and why. */
import { candidates } from './candidates.ts';
import { footprintFor, rostersFor, type EdgeContext } from './edge.ts';
import { placeOf } from './place.ts';
import { distanceKm, steer } from './steering.ts';

/** `GET /v1/where` */
export async function where(context: EdgeContext): Promise<Response> {
  const place = placeOf(context.req.raw);
  const { basis, reason, clusters, ingress } = steer(await footprintFor(context), place);
  const [home] = clusters;
  const first = await candidates(clusters, rostersFor(context)).next();
  const chosen = first.value?.cluster;
  return context.json(
    {
      colo: place.colo ?? null,
      /** Region and id of the cluster the session would live in; null when none has room. */
      region: chosen?.region ?? null,
      cluster: chosen?.cluster ?? null,
      ingress: ingress ? { region: ingress.region, relays: ingress.relays } : null,
      basis,
      reason: home && chosen !== home ? `${home.region} is ${reason}, but has no room now` : reason,
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
