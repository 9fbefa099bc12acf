/** Where a session may go, in the order to try it. */
import type { SteeringCluster } from '../protocol/footprint.ts';
import { pickTransceiver } from './pick.ts';
import type { RosterReader } from './roster-reader.ts';

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
 */
export async function* candidates(
  clusters: readonly SteeringCluster[],
  readRoster: RosterReader,
): AsyncGenerator<Candidate, void> {
  for (const cluster of clusters) {
    let entries = await readRoster(cluster.cluster).catch((error: unknown) => {
      const { region } = cluster;
      console.warn({ message: 'no roster, next cluster', region, error: String(error) });
      return [];
    });
    for (let tries = 0; tries < TRIES_PER_CLUSTER; tries++) {
      const picked = pickTransceiver(entries);
      if (!picked) break;
      yield { cluster, transceiver: picked.transceiver };
      entries = entries.filter((entry) => entry !== picked);
    }
  }
}
