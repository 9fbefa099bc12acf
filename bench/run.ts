/**
 * `npm run bench`: measures, prints each bar beside what was reached, keeps a whole run's figures under
 * bench/results, and ends with 1 when a bar is missed.
 */
import { OptionsError, parseCommandLine, runProgram, wholeNumber } from '../origin/command-line.ts';
import { benchEdge } from './edge/bench.ts';
import { benchRelay, judgementLine } from './relay/bench.ts';
import { flowCosts } from './relay/flows.ts';
import { benchOpus } from './opus/codecs.ts';
import { keepResults } from './results.ts';
import { benchTerraform } from './terraform/bench.ts';
import { barLine, benchTransceiver } from './transceiver/bench.ts';
import { benchLoss } from './transceiver/loss.ts';

/** Flows in the table whose costs are told. */
const TABLES = [1_000, 1_000_000];

const HELP = `Measures, prints each bar beside what was reached, keeps the figures of a whole run in
bench/results, and ends with 1 when a bar is missed.

  npm run bench -- relay          the relay, beside others on this machine
  npm run bench -- transceiver    a transceiver, beside werift's own peer connection
  npm run bench -- edge           the edge Worker, beside one that only forwards
  npm run bench -- terraform      a plan of thirty regions
  npm run bench -- opus           the codec of back ends; it has no bar, and keeps nothing
  npm run bench -- --help         print this

  --rounds N     measure everything so often, 3 by default
  --seconds S    the length of one measurement of relay and transceiver, 2 by default
  --only TEXT    of the relay's scenarios, those with this in their names; keeps nothing
  --browsers     of the transceiver, calls of browsers over a lossy path instead`;

const SUBJECTS = ['relay', 'transceiver', 'edge', 'terraform', 'opus'] as const;

interface BenchOptions {
  readonly subject: (typeof SUBJECTS)[number];
  readonly rounds: number;
  readonly seconds: number;
  readonly only: string;
  readonly browsers: boolean;
}

await runProgram(HELP, readOptions, bench);

async function bench(options: BenchOptions): Promise<void> {
  const benches = {
    relay: runRelay,
    transceiver: runTransceiver,
    edge: runEdge,
    terraform: runTerraform,
    opus: runOpus,
  };
  if (!(await benches[options.subject](options))) process.exitCode = 1;
}

function readOptions(args: readonly string[]): BenchOptions | undefined {
  const { positionals, values } = parseCommandLine({
    args: [...args],
    allowPositionals: true,
    options: {
      rounds: { type: 'string', default: '3' },
      seconds: { type: 'string', default: '2' },
      only: { type: 'string', default: '' },
      browsers: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h' },
    },
  });
  if (values.help) return undefined;
  const subject = SUBJECTS.find((name) => name === positionals.join(' '));
  if (!subject)
    throw new OptionsError('Say what to measure: relay, transceiver, edge, terraform or opus.');
  const { only, browsers } = values;
  const [rounds, seconds] = [
    wholeNumber('rounds', values.rounds, 1),
    wholeNumber('seconds', values.seconds, 1),
  ];
  return { subject, rounds, seconds, only, browsers };
}

/** False when a bar is missed, as with {@link runTransceiver}. */
async function runRelay(options: BenchOptions): Promise<boolean> {
  const { only } = options;
  const { figures, judgements, absent } = await benchRelay({ ...options, log: console.log });
  // The first one only warms up.
  const flowCost = only ? [] : [TABLES[0]!, ...TABLES].map(flowCosts).slice(1);
  for (const { flows, newFlow, packet, bytesPerFlow, grownMB } of flowCost) {
    console.log(
      `${flows} flows: ${newFlow.toFixed(0)} ns for a new one, ${packet.toFixed(0)} ns for a packet up, ` +
        `≤ ${bytesPerFlow} bytes each, process + ${grownMB.toFixed(0)} MB`,
    );
  }
  for (const judgement of judgements) console.log(judgementLine(judgement));
  for (const name of absent) console.log(`${name} is not on this machine and was not measured.`);
  // Figures of a part of the scenarios would stand for the whole.
  if (!only) await keep('relay', options, { figures, flowCost, judgements, absent });
  return judgements.every(({ met }) => met);
}

async function runTransceiver(options: BenchOptions): Promise<boolean> {
  const { browsers } = options;
  const { figures, bars } = browsers
    ? await benchLoss(console.log)
    : await benchTransceiver({ ...options, log: console.log });
  for (const bar of bars) console.log(barLine(bar));
  await keep(browsers ? 'transceiver-loss' : 'transceiver', options, { figures, bars });
  return bars.every(({ met }) => met);
}

async function runEdge(options: BenchOptions): Promise<boolean> {
  const { figures, bars } = await benchEdge({ ...options, log: console.log });
  for (const bar of bars) console.log(barLine(bar));
  await keep('edge', options, { figures, bars });
  return bars.every(({ met }) => met);
}

async function runTerraform(): Promise<boolean> {
  const figures = await benchTerraform();
  const { regions, resources, seconds, bar } = figures;
  console.log(`${regions} regions, ${resources} resources: ${seconds.toFixed(1)} s, bar ${bar} s`);
  await keepResults('terraform', figures);
  return seconds <= bar;
}

function keep(name: string, { rounds, seconds }: BenchOptions, measured: object): Promise<void> {
  return keepResults(name, { rounds, seconds, ...measured });
}

async function runOpus(): Promise<boolean> {
  await benchOpus(console.log);
  return true;
}
