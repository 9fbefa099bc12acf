/** Measures this relay beside its peers, in one run. */
import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { parseRoutingKeys } from '../../protocol/routing-keys.ts';
import { UfragCodec } from '../../protocol/ufrag.ts';
import { BARS, judge, median, type Judgement, type Rounds } from './bars.ts';
import { buildAll } from './build.ts';
import { measure, type Measurement } from './measure.ts';
import { SCENARIOS } from './scenarios.ts';
import { CLUSTER, TRANSCEIVER } from './subject-process.ts';
import { SUBJECTS, subjectsOf, type Subject } from './subjects.ts';

export interface BenchOptions {
  /** Times that each relay is measured, in turn with the others. */
  readonly rounds: number;
  /** Of one measurement. */
  readonly seconds: number;
  /** Only the scenarios whose names have this in them. */
  readonly only: string;
  readonly log: (line: string) => void;
}

export interface BenchResult {
  /** Medians by scenario and relay. */
  readonly figures: Readonly<Record<string, Readonly<Record<string, Partial<Measurement>>>>>;
  readonly judgements: readonly Judgement[];
  /** Peers that this machine does not have. */
  readonly absent: readonly string[];
}

/** Milliseconds for which the load's tokens are good. */
const TOKEN_LIFETIME = 24 * 3_600_000;
const TOKENS = 1000;

export async function benchRelay(options: BenchOptions): Promise<BenchResult> {
  const { rounds, seconds, only, log } = options;
  const scenarios = SCENARIOS.filter(({ name }) => name.includes(only));
  if (scenarios.length === 0) {
    const names = SCENARIOS.map(({ name }) => `"${name}"`);
    throw new Error(`No scenario has "${only}" in its name. There are ${names.join(', ')}.`);
  }
  if (process.platform !== 'linux' || availableParallelism() < 2) {
    throw new Error('The bench needs Linux and two processors: one is the relay’s.');
  }
  await using resources = new AsyncDisposableStack();
  const built = await buildAll(resources);
  const routingKeys = `A:${randomBytes(16).toString('base64')}`;
  const ufrags = join(built.folder, 'ufrags');
  await writeFile(ufrags, tokens(routingKeys));
  const subjects = subjectsOf(built, routingKeys);

  const figures: Record<string, Record<string, Partial<Measurement>>> = {};
  const judgements: Judgement[] = [];
  for (const scenario of scenarios) {
    const measured = subjects.filter(({ name }) => scenario.subjects?.includes(name) ?? true);
    const results: Map<string, Measurement>[] = [];
    for (let round = 0; round < rounds; round++) {
      const results1 = new Map<string, Measurement>();
      for (const subject of measured) {
        const load = { ...scenario.load, seconds };
        results1.set(subject.name, await measure(built.load, ufrags, subject, load));
      }
      results.push(results1);
    }
    figures[scenario.name] = medians(measured, results, scenario.figures);
    log(table(scenario.name, figures[scenario.name]!));
    const bars = BARS.filter((bar) => bar.scenario === scenario.name);
    judgements.push(...bars.map((bar) => judge(bar, results)));
  }
  const names = new Set(subjects.map(({ name }) => name));
  const absent = Object.values(SUBJECTS).filter((name) => !names.has(name));
  return { figures, judgements, absent };
}

function tokens(routingKeys: string): string {
  const codec = new UfragCodec(parseRoutingKeys(routingKeys));
  const expiresAt = Date.now() + TOKEN_LIFETIME;
  const route = { cluster: CLUSTER, transceiver: TRANSCEIVER, expiresAt };
  return Array.from({ length: TOKENS }, () => `${codec.seal(route)}\n`).join('');
}

function medians(
  subjects: readonly Subject[],
  rounds: Rounds,
  wanted: readonly (keyof Measurement)[],
): Record<string, Partial<Measurement>> {
  return Object.fromEntries(
    subjects.map(({ name }) => [
      name,
      Object.fromEntries(
        wanted.map((figure) => [figure, rounded(median(rounds.map((r) => r.get(name)![figure])))]),
      ),
    ]),
  );
}

/** Four digits are more than a measurement is worth. */
function rounded(value: number): number {
  return Number(value.toPrecision(4));
}

const UNITS: ReadonlyMap<keyof Measurement, [string, string]> = new Map([
  ['rate', ['rate', 'pps']],
  ['offered', ['offered', 'pps']],
  ['cpuPerPacket', ['CPU per packet', 'µs']],
  ['cpuShare', ['of a processor', '']],
  ['loss', ['lost', '']],
  ['p50', ['p50', 'µs']],
  ['p99', ['p99', 'µs']],
  ['collections', ['collections', '']],
  ['longestCollection', ['longest', 'ms']],
  ['grownMB', ['grown by', 'MB']],
]);

function table(name: string, figures: Readonly<Record<string, Partial<Measurement>>>): string {
  const rows = Object.entries(figures).map(([subject, values]) => {
    const cells = [...UNITS].flatMap(([figure, [label, unit]]) => {
      const value = values[figure];
      if (value === undefined) return [];
      return `${label} ${value}${unit && ` ${unit}`}`.padEnd(24);
    });
    return `  ${subject.padEnd(32)}${cells.join('')}`.trimEnd();
  });
  return [name, ...rows, ''].join('\n');
}

/** One line for a bar, with what was reached. */
export function judgementLine({ bar, value, met }: Judgement): string {
  const limit = bar.atMost === undefined ? `≥ ${bar.atLeast}` : `≤ ${bar.atMost}`;
  const beside = bar.peer === undefined ? '' : ` × ${bar.peer}`;
  const reached = value === undefined ? 'not measured: the peer is absent' : value.toPrecision(3);
  const what = `${bar.scenario}: ${UNITS.get(bar.figure)![0]}`;
  return `${met ? 'ok  ' : 'MISS'} ${what.padEnd(56)} ${limit}${beside}`.padEnd(96) + reached;
}
