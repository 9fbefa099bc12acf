/** Where a session may go, in the order to try it. */
import type { SteeringCluster } from '../protocol/footprint.ts';
import type { RosterEntry } from '../protocol/roster.ts';
import { clusterLoad, pickTransceiver } from './pick.ts';
import type { RosterReader } from './roster-reader.ts';
import type { Steering } from './steering.ts';
import type { Suspects } from './suspects.ts';

/** Transceivers of one cluster that are tried before the next cluster's turn. */
const TRIES_PER_CLUSTER = 2;

export interface Candidate {
  readonly cluster: SteeringCluster;
  readonly transceiver: number;
}

/**
 * Of clusters that are about equally near, two are drawn, and the emptier one comes first. Reads a roster
 * only when its cluster's turn comes. A roster that cannot be read is one without transceivers, for this call.
 *
 * @param suspects Clusters that come last. One that becomes suspect while it is tried is left at once,
 *   for its transceivers share the signaling that failed.
 * @param isLate Whether the time for the call is over: rosters that answer late take of it as origins do.
 * @param random From 0 up to 1, as Math.random.
 */
export async function* candidates(
  { clusters, peers }: Pick<Steering, 'clusters' | 'peers'>,
  readRoster: RosterReader,
  suspects: Suspects,
  isLate: () => boolean = () => false,
  random: () => number = Math.random,
): AsyncGenerator<Candidate, void> {
  const read = (cluster: SteeringCluster) => rosterOrNone(cluster, readRoster);
  const isTrusted = ({ cluster }: SteeringCluster) => !suspects.has(cluster);
  const emptier = await emptierOfTwo(clusters.slice(0, peers).filter(isTrusted), read, random);
  const order = emptier ? [emptier, ...clusters.filter((other) => other !== emptier)] : clusters;
  for (const cluster of [...order.filter(isTrusted), ...order.filter((it) => !isTrusted(it))]) {
    if (isLate()) return;
    let entries = await read(cluster);
    for (let tries = 0; tries < TRIES_PER_CLUSTER; tries++) {
      const picked = pickTransceiver(entries);
      if (!picked) break;
      yield { cluster, transceiver: picked.transceiver };
      if (suspects.has(cluster.cluster)) break;
      entries = entries.filter((entry) => entry !== picked);
    }
  }
}

async function rosterOrNone(
  cluster: SteeringCluster,
  readRoster: RosterReader,
): Promise<readonly RosterEntry[]> {
  try {
    return await readRoster(cluster);
  } catch (error) {
    const { region } = cluster;
    console.warn({ message: 'no roster, next cluster', region, error: String(error) });
    return [];
  }
}

/** Undefined with fewer than two peers. Of equally loaded ones, the nearer. */
async function emptierOfTwo(
  peers: readonly SteeringCluster[],
  read: (cluster: SteeringCluster) => Promise<readonly RosterEntry[]>,
  random: () => number,
): Promise<SteeringCluster | undefined> {
  if (peers.length < 2) return undefined;
  const first = Math.floor(random() * peers.length);
  const step = 1 + Math.floor(random() * (peers.length - 1));
  const second = (first + step) % peers.length;
  const near = peers[Math.min(first, second)]!;
  const far = peers[Math.max(first, second)]!;
  const [nearLoad, farLoad] = (await Promise.all([read(near), read(far)])).map(clusterLoad);
  return farLoad! < nearLoad! ? far : near;
}
