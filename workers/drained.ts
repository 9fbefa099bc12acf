/** Clusters that an operator took out of steering for a while, beside what the footprint says. */
import { RefreshingCache } from './refreshing-cache.ts';
import { steeringIndex, type SteeringIndex } from './steering.ts';

/** Their keys in the FOOTPRINT namespace, one for each cluster, so that changes cannot undo each other. */
export const DRAINED_PREFIX = 'drained/';

/** Milliseconds after which the keys are listed anew: KV asks ten times the price of a read for a list. */
export const DRAINED_FRESH = 30_000;

const CLUSTER_ID = /^[1-9]\d{0,4}$/;

// What was known last beats nothing, however long the store is away.
const cache = new RefreshingCache<ReadonlySet<number>>({ fresh: DRAINED_FRESH, stale: Infinity });

/** As the isolate knows them. Without any knowledge none counts: a store that is away takes no cluster out. */
export function readDrained(
  namespace: KVNamespace,
  background: (work: Promise<unknown>) => void,
): Promise<ReadonlySet<number>> {
  const load = () => listDrained(namespace);
  return cache
    .get(load, background, (error) =>
      console.error({ message: 'the same clusters stay drained', error: String(error) }),
    )
    .catch((error: unknown) => {
      console.error({ message: 'no cluster counts as drained', error: String(error) });
      return new Set();
    });
}

/** As the store has them. */
export async function listDrained(namespace: KVNamespace): Promise<Set<number>> {
  const drained = new Set<number>();
  let cursor: string | undefined;
  do {
    const page = await namespace.list({ prefix: DRAINED_PREFIX, ...(cursor && { cursor }) });
    for (const { name } of page.keys) {
      const id = name.slice(DRAINED_PREFIX.length);
      if (CLUSTER_ID.test(id)) drained.add(Number(id));
      else console.error({ message: `delete ${name} from FOOTPRINT: it names no cluster` });
    }
    cursor = page.list_complete ? undefined : page.cursor;
  } while (cursor !== undefined);
  return drained;
}

/** Takes a cluster out, or puts it back. @param requestId Of who does it, so that its log can be found. */
export async function setDrained(
  namespace: KVNamespace,
  cluster: number,
  isDrained: boolean,
  requestId: string,
): Promise<void> {
  const key = `${DRAINED_PREFIX}${cluster}`;
  await (isDrained ? namespace.put(key, requestId) : namespace.delete(key));
  await cache.renew(() => listDrained(namespace));
}

/** The index with active clusters of the list draining; others are as they were. */
export function drain(index: SteeringIndex, drained: ReadonlySet<number>): SteeringIndex {
  if (drained.size === 0) return index;
  const clusters = index.clusters.map((cluster) =>
    cluster.state === 'active' && drained.has(cluster.cluster)
      ? { ...cluster, state: 'draining' as const }
      : cluster,
  );
  return steeringIndex({ version: 1, clusters });
}
