/**
 * `npm run bench -- relay [--rounds N] [--seconds S] [--only TEXT]`: measures, prints each bar beside what
 * was reached, keeps a whole run's figures under bench/results, and ends with 1 when a bar is missed.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { machineFacts, type Machine } from './machine.ts';
import { benchRelay, judgementLine, type BenchOptions, type BenchResult } from './relay/bench.ts';
import { flowCosts, type FlowCosts } from './relay/flows.ts';

/** Flows in the table whose costs are told. */
const TABLES = [1_000, 1_000_000];

const USAGE = 'Usage: npm run bench -- relay [--rounds N] [--seconds S] [--only TEXT]';

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '2' },
    only: { type: 'string', default: '' },
  },
});
const [rounds, seconds, only] = [Number(values.rounds), Number(values.seconds), values.only];

if (positionals.join(' ') !== 'relay' || !(rounds >= 1) || !(seconds > 0)) {
  console.error(USAGE);
  process.exitCode = 2;
} else {
  const machine = await machineFacts();
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
  if (judgements.some(({ met }) => !met)) process.exitCode = 1;
  if (!only) await keep({ machine, rounds, seconds, figures, flowCost, judgements, absent });
}

/** Figures of a part of the scenarios would stand for the whole. */
async function keep(
  run: BenchResult &
    Pick<BenchOptions, 'rounds' | 'seconds'> & { machine: Machine; flowCost: FlowCosts[] },
): Promise<void> {
  const results = join(import.meta.dirname, 'results');
  await mkdir(results, { recursive: true });
  const kept = { measuredAt: new Date().toISOString(), ...run };
  await writeFile(join(results, 'relay.json'), `${JSON.stringify(kept, null, 2)}\n`);
}
