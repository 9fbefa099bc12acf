/** Where a request comes from, as Cloudflare tells it. */
import type { Place } from './steering.ts';

/** @param request Any request; outside of Cloudflare's network it has no `cf`, and nothing is known. */
export function placeOf(request: Request): Place {
  const cf = (request.cf ?? {}) as Partial<IncomingRequestCfProperties>;
  const { colo, latitude, longitude, country, continent } = cf;
  return { colo, latitude, longitude, country, continent };
}
