/**
 * `npm run bench -- relay|transceiver|edge|terraform`: measures, prints each bar beside what was reached, keeps a whole
 * run's figures under bench/results, and ends with 1 when a bar is missed.
 */
import { parseArgs } from 'node:util';
import { benchEdge } from './edge/bench.ts';
import { benchRelay, judgementLine } from './relay/bench.ts';
import { flowCosts } from './relay/flows.ts';
import { keepResults } from './results.ts';
import { benchTerraform } from './terraform/bench.ts';
import { barLine, benchTransceiver } from './transceiver/bench.ts';
import { benchLoss } from './transceiver/loss.ts';

/** Flows in the table whose costs are told. */
const TABLES = [1_000, 1_000_000];

const USAGE =
  'Usage: npm run bench -- relay [--rounds N] [--seconds S] [--only TEXT]\n' +
  '       npm run bench -- transceiver [--rounds N] [--seconds S] [--browsers]\n' +
  '       npm run bench -- edge [--rounds N]\n' +
  '       npm run bench -- terraform';

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '2' },
    only: { type: 'string', default: '' },
    browsers: { type: 'boolean', default: false },
  },
});
const { only, browsers } = values;
const [rounds, seconds] = [Number(values.rounds), Number(values.seconds)];
const commands = new Map([
  ['relay', runRelay],
  ['transceiver', runTransceiver],
  ['edge', runEdge],
  ['terraform', runTerraform],
]);
const command = commands.get(positionals.join(' '));

if (!command || !(rounds >= 1) || !(seconds > 0)) {
  console.error(USAGE);
  process.exitCode = 2;
} else if (!(await command())) process.exitCode = 1;

/** False when a bar is missed, as with {@link runTransceiver}. */
async function runRelay(): Promise<boolean> {
  const { figures, judgements, absent } = await benchRelay({
    rounds,
    seconds,
    only,
    log: console.log,
  });
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
  if (!only) await keep('relay', { figures, flowCost, judgements, absent });
  return judgements.every(({ met }) => met);
}

async function runTransceiver(): Promise<boolean> {
  const { figures, bars } = browsers
    ? await benchLoss(console.log)
    : await benchTransceiver({ rounds, seconds, log: console.log });
  for (const bar of bars) console.log(barLine(bar));
  await keep(browsers ? 'transceiver-loss' : 'transceiver', { figures, bars });
  return bars.every(({ met }) => met);
}

async function runEdge(): Promise<boolean> {
  const { figures, bars } = await benchEdge({ rounds, log: console.log });
  for (const bar of bars) console.log(barLine(bar));
  await keep('edge', { figures, bars });
  return bars.every(({ met }) => met);
}

async function runTerraform(): Promise<boolean> {
  const figures = await benchTerraform();
  const { regions, resources, seconds: taken, bar } = figures;
  console.log(`${regions} regions, ${resources} resources: ${taken.toFixed(1)} s, bar ${bar} s`);
  await keepResults('terraform', figures);
  return taken <= bar;
}

function keep(name: string, measured: object): Promise<void> {
  return keepResults(name, { rounds, seconds, ...measured });
}
