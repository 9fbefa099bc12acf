/** Clusters that an operator took out of steering for a while, beside what the footprint says. */
import * as v from 'valibot';
import { steeringIndex, type SteeringIndex } from './steering.ts';

/** Their key in the FOOTPRINT namespace: a JSON array of cluster ids. */
export const DRAINED_KEY = 'drained';

/** Seconds the colo keeps what it read from KV; the least that KV takes. */
const KV_CACHE_TTL = 30;

const DrainedSchema = v.array(v.pipe(v.number(), v.integer()));

export async function readDrained(namespace: KVNamespace): Promise<Set<number>> {
  const text = await namespace
    .get(DRAINED_KEY, { cacheTtl: KV_CACHE_TTL })
    .catch((error: unknown) => {
      console.error({ message: 'no cluster counts as drained', error: String(error) });
      return null;
    });
  return text === null ? new Set() : parseDrained(text);
}

/** What cannot be read drains nothing, and is logged: a slip must not take every cluster out. */
export function parseDrained(text: string): Set<number> {
  try {
    return new Set(v.parse(DrainedSchema, JSON.parse(text)));
  } catch (error) {
    const message = `what is under ${DRAINED_KEY} in KV is no list of cluster ids; it counts as empty`;
    console.error({ message, error: String(error) });
    return new Set();
  }
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
