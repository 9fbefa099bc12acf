/**
 * `npm run bench -- relay|transceiver|edge [--rounds N] [--seconds S]`: measures, prints each bar beside what was reached,
 * keeps the figures under bench/results, and ends with 1 when a bar is missed.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { benchEdge } from './edge/bench.ts';
import { machineFacts } from './machine.ts';
import { benchRelay, judgementLine } from './relay/bench.ts';
import { flowCosts } from './relay/flows.ts';
import { barLine, benchTransceiver } from './transceiver/bench.ts';
import { benchLoss } from './transceiver/loss.ts';

/** Flows in the table whose costs are told. */
const TABLES = [1_000, 1_000_000];

const USAGE =
  'Usage: npm run bench -- relay [--rounds N] [--seconds S]\n' +
  '       npm run bench -- transceiver [--rounds N] [--seconds S] [--browsers]\n' +
  '       npm run bench -- edge [--rounds N]';

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '2' },
    browsers: { type: 'boolean', default: false },
  },
});
const [rounds, seconds] = [Number(values.rounds), Number(values.seconds)];

if (
  !/^(?:relay|transceiver|edge)$/.test(positionals.join(' ')) ||
  !(rounds >= 1) ||
  !(seconds > 0)
) {
  console.error(USAGE);
  process.exitCode = 2;
} else if (positionals[0] === 'edge') {
  const machine = await machineFacts();
  const { figures, bars } = await benchEdge({ rounds, log: console.log });
  for (const bar of bars) console.log(barLine(bar));
  await keepResults('edge', {
    measuredAt: new Date().toISOString(),
    machine,
    rounds,
    figures,
    bars,
  });
  if (bars.some(({ met }) => !met)) process.exitCode = 1;
} else if (positionals[0] === 'transceiver') {
  const { browsers } = values;
  const machine = await machineFacts();
  const { figures, bars } = browsers
    ? await benchLoss(console.log)
    : await benchTransceiver({ rounds, seconds, log: console.log });
  for (const bar of bars) console.log(barLine(bar));
  const name = browsers ? 'transceiver-loss' : 'transceiver';
  await keepResults(name, {
    measuredAt: new Date().toISOString(),
    machine,
    rounds,
    seconds,
    figures,
    bars,
  });
  if (bars.some(({ met }) => !met)) process.exitCode = 1;
} else {
  const machine = await machineFacts();
  const { figures, judgements, absent } = await benchRelay({ rounds, seconds, log: console.log });
  // The first one only warms up.
  const flowCost = [TABLES[0]!, ...TABLES].map(flowCosts).slice(1);
  for (const { flows, newFlow, packet, bytesPerFlow, grownMB } of flowCost) {
    console.log(
      `${flows} flows: ${newFlow.toFixed(0)} ns for a new one, ${packet.toFixed(0)} ns for a packet up, ` +
        `≤ ${bytesPerFlow} bytes each, process + ${grownMB.toFixed(0)} MB`,
    );
  }
  for (const judgement of judgements) console.log(judgementLine(judgement));
  for (const name of absent) console.log(`${name} is not on this machine and was not measured.`);
  const bars = judgements.map(({ bar, value, met }) => ({ ...bar, value, met }));
  const measuredAt = new Date().toISOString();
  const kept = { measuredAt, machine, rounds, seconds, figures, flowCost, bars, absent };
  await keepResults('relay', kept);
  if (judgements.some(({ met }) => !met)) process.exitCode = 1;
}

async function keepResults(name: string, kept: unknown): Promise<void> {
  const results = join(import.meta.dirname, 'results');
  await mkdir(results, { recursive: true });
  await writeFile(join(results, `${name}.json`), `${JSON.stringify(kept, null, 2)}\n`);
}
