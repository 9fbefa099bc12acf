/** Where a session may go, in the order to try it. */
import type { SteeringCluster } from '../protocol/footprint.ts';
import { pickTransceiver } from './pick.ts';
import type { RosterReader } from './roster-reader.ts';
import type { Suspects } from './suspects.ts';

/** Transceivers of one cluster that are tried before the next cluster's turn. */
const TRIES_PER_CLUSTER = 2;

export interface Candidate {
  readonly cluster: SteeringCluster;
  readonly transceiver: number;
}

/**
 * Reads a roster only when its cluster's turn comes. A roster that cannot be read is one without
 * transceivers, for this call.
 *
 * @param clusters In the order to try them.
 * @param suspects Clusters that come last. One that becomes suspect while it is tried is left at once,
 *   for its transceivers share the signaling that failed.
 */
export async function* candidates(
  clusters: readonly SteeringCluster[],
  readRoster: RosterReader,
  suspects: Suspects,
): AsyncGenerator<Candidate, void> {
  for (const cluster of suspectsLast(clusters, suspects)) {
    let entries = await readRoster(cluster.cluster).catch((error: unknown) => {
      const { region } = cluster;
      console.warn({ message: 'no roster, next cluster', region, error: String(error) });
      return [];
    });
    for (let tries = 0; tries < TRIES_PER_CLUSTER; tries++) {
      const picked = pickTransceiver(entries);
      if (!picked) break;
      yield { cluster, transceiver: picked.transceiver };
      if (suspects.has(cluster.cluster)) break;
      entries = entries.filter((entry) => entry !== picked);
    }
  }
}

function suspectsLast(clusters: readonly SteeringCluster[], suspects: Suspects): SteeringCluster[] {
  const isSuspect = ({ cluster }: SteeringCluster) => suspects.has(cluster);
  return clusters.toSorted((a, b) => Number(isSuspect(a)) - Number(isSuspect(b)));
}
