/** `npm run bench -- edge`: what a call setup costs the Worker, without the platform's own share and the origin's. */
import type { SteeringTable } from '../../protocol/footprint.ts';
import { atMost, type Bar } from '../transceiver/bench.ts';
import { bundleEdge } from './bundle.ts';
import { startInstantOrigin } from './origin.ts';
import { startEdgeSubject, startForwardSubject } from './subject.ts';

export interface EdgeBenchOptions {
  /** Times that the subjects are measured, in turn. */
  readonly rounds: number;
  readonly log: (line: string) => void;
}

/** Calls that warm a subject up, and of one measurement. */
const WARM_UP = 500;
const CALLS = 500;

const [FEW, MANY] = [3, 300];

export async function benchEdge({ rounds, log }: EdgeBenchOptions) {
  await using open = new AsyncDisposableStack();
  const { modules, gzipped } = await bundleEdge();
  const origin = await startInstantOrigin();
  open.defer(() => origin.close());
  const forward = await startForwardSubject(origin.url);
  open.defer(() => forward.close());
  const few = await startEdgeSubject(modules, tableOf(FEW, origin.url));
  open.defer(() => few.close());
  const many = await startEdgeSubject(modules, tableOf(MANY, origin.url));
  open.defer(() => many.close());
  const subjects = { forward, few, many };
  for (const subject of Object.values(subjects)) await subject.costOf(WARM_UP);
  const costs = { forward: [] as number[], few: [] as number[], many: [] as number[] };
  for (let round = 1; round <= rounds; round++) {
    for (const name of ['forward', 'few', 'many'] as const) {
      costs[name].push(await subjects[name].costOf(CALLS));
    }
    const last = Object.entries(costs).map(([name, all]) => `${name} ${all.at(-1)!.toFixed(0)}`);
    log(`round ${round}, µs of workerd for a call: ${last.join(', ')}`);
  }
  const [base, own3, own300] = [costs.forward, costs.few, costs.many].map(median);
  const bars: Bar[] = [
    atMost('µs of CPU for a call, 3 regions', own3! - base!, 250),
    atMost('300 regions over 3', own300! / own3!, 1.1),
    atMost('kB of bundle, gzip', gzipped / 1024, 64),
  ];
  return { figures: { ...costs, gzipped }, bars };
}

/** The first three are near the caller, and the rest all over the globe. */
function tableOf(regions: number, signaling: string): SteeringTable {
  const clusters = Array.from({ length: regions }, (_, i) => ({
    cluster: i + 1,
    region: `eu-central-${i % 10}`,
    state: 'active' as const,
    latitude: i < FEW ? 50 - 10 * i : ((i * 37) % 160) - 80,
    longitude: i < FEW ? 9 : 40 + ((i * 101) % 140),
    countries: [],
    continents: [],
    failover: [],
    signaling,
    relays: [{ address: '192.0.2.1', port: 3478, transport: 'udp' as const }],
  }));
  return { version: 1, clusters };
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!;
}
