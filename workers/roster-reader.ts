/** Rosters as calls read them: from the isolate, at most a second old in the good case. */
import type { RosterEntry } from '../protocol/roster.ts';
import { hasRoom } from './pick.ts';
import { RefreshingCache } from './refreshing-cache.ts';

/** Milliseconds a roster counts as new. */
export const ROSTER_FRESH = 1_000;

/** Milliseconds a roster is still used while a new one is read, or cannot be. */
export const ROSTER_STALE = 10_000;

const LIMITS = {
  fresh: ROSTER_FRESH,
  stale: ROSTER_STALE,
  keep: (entries: readonly RosterEntry[]) => entries.some(hasRoom),
};

const rosters = new Map<number, RefreshingCache<readonly RosterEntry[]>>();

/** Reads a cluster's roster; rejects when it is neither held nor to be had. */
export type RosterReader = (cluster: number) => Promise<readonly RosterEntry[]>;

export function rosterReader(
  namespace: Env['ROSTER'],
  background: (work: Promise<unknown>) => void,
): RosterReader {
  return (cluster) => {
    let cache = rosters.get(cluster);
    if (!cache) {
      cache = new RefreshingCache(LIMITS);
      rosters.set(cluster, cache);
    }
    return cache.get(
      async () => await namespace.getByName(String(cluster)).snapshot(),
      background,
      (error) =>
        console.warn({ message: 'a roster cannot be read', cluster, error: String(error) }),
    );
  };
}
