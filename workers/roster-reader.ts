/** Rosters as calls read them: from the isolate, at most a second old in the good case. */
import type { SteeringCluster } from '../protocol/footprint.ts';
import type { RosterEntry } from '../protocol/roster.ts';
import { locationHint } from './location-hint.ts';
import { hasRoom } from './pick.ts';
import { RefreshingCache } from './refreshing-cache.ts';
import { within } from './within.ts';

/** Milliseconds a roster counts as new. */
export const ROSTER_FRESH = 1_000;

/** Milliseconds a roster is still used while a new one is read, or cannot be. */
export const ROSTER_STALE = 10_000;

/** Milliseconds a roster may take to answer. */
export const ROSTER_TIMEOUT = 2_000;

const LIMITS = {
  fresh: ROSTER_FRESH,
  stale: ROSTER_STALE,
  keep: (entries: readonly RosterEntry[]) => entries.some(hasRoom),
};

const rosters = new Map<number, RefreshingCache<readonly RosterEntry[]>>();

/** Reads a cluster's roster; rejects when it is neither held nor to be had. */
export type RosterReader = (cluster: SteeringCluster) => Promise<readonly RosterEntry[]>;

/** The object of a cluster's roster. */
export function rosterOf(
  namespace: Env['ROSTER'],
  cluster: SteeringCluster,
): ReturnType<Env['ROSTER']['getByName']> {
  return namespace.getByName(String(cluster.cluster), { locationHint: locationHint(cluster) });
}

export function rosterReader(
  namespace: Env['ROSTER'],
  background: (work: Promise<unknown>) => void,
): RosterReader {
  return (own) => {
    const { cluster } = own;
    let cache = rosters.get(cluster);
    if (!cache) {
      cache = new RefreshingCache(LIMITS);
      rosters.set(cluster, cache);
    }
    return cache.get(
      () => within(ROSTER_TIMEOUT, rosterOf(namespace, own).snapshot()),
      background,
      (error) =>
        console.warn({ message: 'a roster cannot be read', cluster, error: String(error) }),
    );
  };
}
