/** Asks the edge where a call would go, and says it in words. */
import { placeHeaders } from './places.js';

/** How the edge writes a place that it knows by coordinates alone. */
const COORDINATES = /-?\d+(\.\d+)?, -?\d+(\.\d+)?/g;

/** @typedef {import('./world.js').Coordinates} Coordinates */
/** @typedef {Coordinates & { region: string, state: 'active' | 'draining' }} Region */

/**
 * @typedef {object} Where
 * @property {string} sentence For people; it says so when the edge cannot tell.
 * @property {string | undefined} region The one that would take the call.
 * @property {{ region: string, relays: string[] } | undefined} ingress Whose relays, as `ADDRESS:PORT/TRANSPORT`, would take the media in.
 * @property {Coordinates | undefined} client
 * @property {Region[]} regions
 */

/**
 * @typedef {object} WhereAnswer What the page reads of `GET /v1/where`.
 * @property {string | null} region
 * @property {string} reason
 * @property {{ region: string, relays: { address: string, port: number, transport: string }[] } | null} ingress
 * @property {{ region: string, distanceKm: number | null }[]} clusters
 * @property {Coordinates | null} client
 * @property {Region[]} regions
 */

/**
 * @param {import('./places.js').Place | undefined} place Where to call from, in a local run.
 * @returns {Promise<Where>}
 */
export async function askWhere(place) {
  try {
    const response = await fetch('/v1/where', { headers: placeHeaders(place) });
    if (!response.ok) {
      return unknown(`The edge cannot tell where a call goes (HTTP ${response.status}).`);
    }
    /** @type {WhereAnswer} */
    const answer = await response.json();
    return {
      sentence: describe(answer, place?.name),
      region: answer.region ?? undefined,
      ingress: answer.ingress
        ? { region: answer.ingress.region, relays: answer.ingress.relays.map(candidateOf) }
        : undefined,
      client: answer.client ?? undefined,
      regions: answer.regions,
    };
  } catch {
    return unknown('The edge cannot be reached; is it running?');
  }
}

/** @param {{ address: string, port: number, transport: string }} relay */
function candidateOf({ address, port, transport }) {
  return `${address}:${port}/${transport}`;
}

/**
 * @param {string} sentence
 * @returns {Where}
 */
function unknown(sentence) {
  return { sentence, region: undefined, ingress: undefined, client: undefined, regions: [] };
}

/**
 * @param {WhereAnswer} answer
 * @param {string | undefined} name Of the place.
 */
function describe({ region, reason, ingress, clusters }, name) {
  const why = reason.replace(COORDINATES, name ?? 'you');
  const from = `A call from ${name ?? 'here'}`;
  if (!region) return `${from} finds no cluster: ${why}.`;
  const km = clusters.find((cluster) => cluster.region === region)?.distanceKm ?? undefined;
  const distance = km === undefined ? '' : `, ${km.toLocaleString('en')} km away`;
  const crosses = ingress !== null && ingress.region !== region;
  const entry = crosses ? ` Media enters at ${ingress.region}.` : '';
  return `${from} goes to ${region}${distance}: ${why}.${entry}`;
}
