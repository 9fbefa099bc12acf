/** Where a request comes from, as Cloudflare tells it. */
import type { Place } from './client-place.ts';

/** Newer than the types of the runtime: HTTP/3 has this in place of `clientTcpRtt`. */
interface ClientCf extends IncomingRequestCfProperties {
  readonly clientQuicRtt?: number;
}

/** @param request Any request; outside of Cloudflare's network it has no `cf`, and nothing is known. */
export function placeOf(request: Request): Place {
  const cf = (request.cf ?? {}) as Partial<ClientCf>;
  const { colo, latitude, longitude, country, continent, clientTcpRtt, clientQuicRtt } = cf;
  return { colo, latitude, longitude, country, continent, rtt: clientTcpRtt || clientQuicRtt };
}
