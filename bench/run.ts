/**
 * `npm run bench -- relay [--rounds N] [--seconds S]`: measures, prints each bar beside what was reached,
 * keeps the figures under bench/results, and ends with 1 when a bar is missed.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { machineFacts } from './machine.ts';
import { benchRelay, judgementLine } from './relay/bench.ts';
import { flowCosts } from './relay/flows.ts';

/** Flows in the table whose costs are told. */
const TABLES = [1_000, 1_000_000];

const USAGE = 'Usage: npm run bench -- relay [--rounds N] [--seconds S]';

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '2' },
  },
});
const [rounds, seconds] = [Number(values.rounds), Number(values.seconds)];

if (positionals.join(' ') !== 'relay' || !(rounds >= 1) || !(seconds > 0)) {
  console.error(USAGE);
  process.exitCode = 2;
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
  const results = join(import.meta.dirname, 'results');
  await mkdir(results, { recursive: true });
  const path = join(results, 'relay.json');
  await writeFile(path, `${JSON.stringify(kept, null, 2)}\n`);
  if (judgements.some(({ met }) => !met)) process.exitCode = 1;
}
