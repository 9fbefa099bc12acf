/**
 * `npm run bench -- edge`: processor time of workerd for a call, and by how much it is more than that of a Worker
 * that only passes the same bytes on, which is the platform's share.
 */
import type { SteeringTable } from '../../protocol/footprint.ts';
import { atMost, type Bar } from '../transceiver/bench.ts';
import { bundleEdge } from './bundle.ts';
import { startInstantOrigin } from './origin.ts';
import { startEdgeSubject, startForwardSubject } from './subject.ts';

export interface EdgeBenchOptions {
  /** How often the subjects are measured {@link TURNS} times in turn. */
  readonly rounds: number;
  readonly log: (line: string) => void;
}

/** Calls that warm a subject up: V8 goes on compiling for thousands. */
const WARM_UP = 12_000;

/** Calls of one measurement. Short turns, so that whatever else the machine does meets all subjects alike. */
const CALLS = 400;
const TURNS = 5;

const [FEW, MANY] = [3, 300];

export async function benchEdge({ rounds, log }: EdgeBenchOptions) {
  await using open = new AsyncDisposableStack();
  const { modules, gzipped } = await bundleEdge();
  const origin = await startInstantOrigin();
  open.defer(() => origin.close());
  const forward = await startForwardSubject(origin.host);
  open.defer(() => forward.close());
  const few = await startEdgeSubject(modules, tableOf(FEW, origin.host));
  open.defer(() => few.close());
  const many = await startEdgeSubject(modules, tableOf(MANY, origin.host));
  open.defer(() => many.close());
  const subjects = { forward, few, many };
  for (const subject of Object.values(subjects)) await subject.costOf(WARM_UP);
  const turns: Record<keyof typeof subjects, number>[] = [];
  for (let round = 1; round <= rounds; round++) {
    for (let turn = 0; turn < TURNS; turn++) {
      turns.push({
        forward: await forward.costOf(CALLS),
        few: await few.costOf(CALLS),
        many: await many.costOf(CALLS),
      });
    }
    const { forward: base, few: own, many: own300 } = turns.at(-1)!;
    log(
      `round ${round}, µs of workerd for a call: ${base.toFixed(0)} forwarded, ${own.toFixed(0)} placed ` +
        `among ${FEW} regions, ${own300.toFixed(0)} among ${MANY}`,
    );
  }
  const own = turns.map((turn) => turn.few - turn.forward);
  const [low, high] = [quantile(own, 0.25), quantile(own, 0.75)];
  log(`over forwarding, half of ${own.length} turns: ${low.toFixed(0)} to ${high.toFixed(0)} µs`);
  const bars: Bar[] = [
    atMost('µs of CPU for a call, over forwarding', quantile(own, 0.5), 250),
    atMost(
      `${MANY} regions over ${FEW}`,
      quantile(
        turns.map((turn) => turn.many / turn.few),
        0.5,
      ),
      1.1,
    ),
    atMost('kB of bundle, gzip', gzipped / 1024, 64),
  ];
  return { figures: { turns, overForwarding: { low, high }, gzipped }, bars };
}

/** The first three are near the caller, and the rest all over the globe. */
export function tableOf(regions: number, host: string): SteeringTable {
  const clusters = Array.from({ length: regions }, (_, i) => ({
    cluster: i + 1,
    region: `eu-${'abcdefghijklmnopqrst'[i % 20]}${'abcdefghijklmnopqrst'[Math.floor(i / 20)]}-1`,
    state: 'active' as const,
    latitude: i < FEW ? 50 - 10 * i : ((i * 37) % 160) - 80,
    longitude: i < FEW ? 9 : 40 + ((i * 101) % 140),
    countries: [],
    continents: [],
    failover: [],
    signaling: `http://${host}`,
    relays: [{ address: '192.0.2.1', port: 3478, transport: 'udp' as const }],
  }));
  return { version: 1, clusters };
}

function quantile(values: readonly number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length * share)]!;
}
