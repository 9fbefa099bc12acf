/** Where a call from here would go, and why. */
import type { SteeringCluster } from '../protocol/footprint.ts';
import type { RosterEntry } from '../protocol/roster.ts';
import { candidates } from './candidates.ts';
import type { Place } from './client-place.ts';
import { footprintFor, rostersFor, type EdgeContext, placeFor } from './edge.ts';
import { clusterLoad, hasRoom, whyNone } from './pick.ts';
import type { RosterReader } from './roster-reader.ts';
import { readCoordinates } from './sphere.ts';
import { distanceKm, steer, type Steering } from './steering.ts';
import { suspects } from './suspects.ts';
import type { WhereAnswer } from './where-answer.ts';

/** Digits after the point of a load. */
const LOAD_DIGITS = 2;

const FAILED = 'it failed a call a moment ago';

/** `GET /v1/where`. It draws no lot, as a call does, so that the same state gives the same answer. */
export async function where(context: EdgeContext): Promise<Response> {
  const place = placeFor(context);
  const index = await footprintFor(context);
  const steering = steer(index, place);
  const { basis, clusters, ingress, peers } = steering;
  const readRoster = readingOnce(rostersFor(context));
  const first = await candidates({ clusters, peers: 1 }, readRoster, suspects).next();
  const chosen = first.value?.cluster;
  const rosterOf = (cluster: SteeringCluster) => readRoster(cluster).catch(() => undefined);
  const equals = clusters.slice(0, peers);
  const standings = await Promise.all(
    equals.map(async (cluster) => standingOf(cluster, await rosterOf(cluster))),
  );
  const answer: WhereAnswer = {
    colo: place.colo ?? null,
    region: chosen?.region ?? null,
    cluster: chosen?.cluster ?? null,
    ingress: ingress ? { region: ingress.region, relays: ingress.relays } : null,
    basis,
    reason: explain(steering, chosen, standings),
    sharing: peers > 1 ? standings : [],
    clusters: clusters.map((cluster) => {
      const km = distanceKm(place, cluster);
      const distance = km === undefined ? null : Math.round(km);
      return { region: cluster.region, cluster: cluster.cluster, distanceKm: distance };
    }),
    client: coordinatesOf(place),
    regions: index.serving.map(({ region, cluster, state, latitude, longitude }) => ({
      region,
      cluster,
      state: state === 'active' ? state : 'draining',
      latitude,
      longitude,
    })),
  };
  return context.json(answer, 200, { 'cache-control': 'no-store' });
}

function coordinatesOf(place: Place): WhereAnswer['client'] {
  const at = readCoordinates(place.latitude, place.longitude);
  return at ? { latitude: at[0], longitude: at[1] } : null;
}

/** Reads each roster once, so that all of an answer speaks of one state. */
function readingOnce(readRoster: RosterReader): RosterReader {
  const readings = new Map<number, ReturnType<RosterReader>>();
  return (own) => {
    const reading = readings.get(own.cluster) ?? readRoster(own);
    readings.set(own.cluster, reading);
    return reading;
  };
}

/** How one of the clusters about equally near stands. */
type Standing = WhereAnswer['sharing'][number];

/** @param entries Of its roster; undefined when it cannot be read. */
function standingOf(
  { region, cluster }: SteeringCluster,
  entries: readonly RosterEntry[] | undefined,
): Standing {
  if (suspects.has(cluster)) return { region, cluster, load: null, reason: FAILED };
  if (!entries?.some(hasRoom)) return { region, cluster, load: null, reason: whyNone(entries) };
  const load = Number(clusterLoad(entries).toFixed(LOAD_DIGITS));
  return { region, cluster, load, reason: `${Math.round(100 * load)} % of its room is taken` };
}

/** @param standings Of the clusters about equally near, the first in the order among them. */
function explain(
  { clusters, reason }: Steering,
  chosen: SteeringCluster | undefined,
  standings: readonly Standing[],
): string {
  const [home] = clusters;
  const [standing] = standings;
  if (!home || !standing) return reason;
  const why =
    chosen === home ? reason : `${home.region} comes first (${reason}), but ${standing.reason}`;
  const others = standings
    .filter(({ cluster, load }) => load !== null && cluster !== chosen?.cluster)
    .map(({ region }) => region);
  if (others.length === 0) return why;
  const whose = `${others.join(', ')} ${others.length === 1 ? 'is' : 'are'} about as near and`;
  return others.length === 1
    ? `${why}; ${whose} shares the calls, each of which goes to the emptier of both`
    : `${why}; ${whose} share the calls, each of which goes to the emptier of two that are drawn`;
}
