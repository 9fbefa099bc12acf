/** Where a local caller claims to be. */
import type { Region } from '../protocol/footprint-region.ts';

/** What Cloudflare would say of a client there; text, as `request.cf` has it. */
export interface Place {
  /** IATA code of the colo. */
  readonly colo: string;
  /** Degrees. */
  readonly latitude: string;
  readonly longitude: string;
  /** ISO 3166-1. */
  readonly country?: string;
  readonly continent?: string;
}

/** No real colo has it: this caller stands exactly where the region is. */
const LOCAL_COLO = 'LOC';

export function placeOfRegion({ geo }: Region): Place {
  const [country] = geo.countries ?? [];
  const [continent] = geo.continents ?? [];
  return {
    colo: LOCAL_COLO,
    latitude: String(geo.latitude),
    longitude: String(geo.longitude),
    ...(country && { country }),
    ...(continent && { continent }),
  };
}

/** Request headers that make a local edge take the client to be there; a deployed one ignores them. */
export function placeHeaders(place: Place): Record<string, string> {
  return { 'MF-CF-Blob': JSON.stringify(place) };
}
