/** Where a request comes from, as Cloudflare tells it. */
import type { Place } from './client-place.ts';

/** Characters of the longest text believed: coordinates with many digits. */
const MAX_TEXT = 32;

/** @param request Any request; outside of Cloudflare's network it has no `cf`, and nothing is known. */
export function placeOf(request: Request): Place {
  const cf: Readonly<Record<string, unknown>> = request.cf ?? {};
  return {
    colo: textIn(cf, 'colo'),
    latitude: textIn(cf, 'latitude'),
    longitude: textIn(cf, 'longitude'),
    country: textIn(cf, 'country'),
    continent: textIn(cf, 'continent'),
    // Newer than the types of the runtime: HTTP/3 has the second in place of the first.
    rtt: millisecondsIn(cf, 'clientTcpRtt') ?? millisecondsIn(cf, 'clientQuicRtt'),
  };
}

function textIn(cf: Readonly<Record<string, unknown>>, field: string): string | undefined {
  const value = cf[field];
  return typeof value === 'string' && value.length <= MAX_TEXT ? value : undefined;
}

/** Zero stands for a round trip that was not measured. */
function millisecondsIn(cf: Readonly<Record<string, unknown>>, field: string): number | undefined {
  const value = cf[field];
  return typeof value === 'number' && value > 0 ? value : undefined;
}
