/**
 * `npm run bench -- relay [--rounds N] [--seconds S]`: measures, prints each bar beside what was reached,
 * keeps the figures under bench/results, and ends with 1 when a bar is missed.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { machineFacts } from './machine.ts';
import { benchRelay, judgementLine } from './relay/bench.ts';

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
  for (const judgement of judgements) console.log(judgementLine(judgement));
  for (const name of absent) console.log(`${name} is not on this machine and was not measured.`);
  const bars = judgements.map(({ bar, value, met }) => ({ ...bar, value, met }));
  const measuredAt = new Date().toISOString();
  const kept = { measuredAt, machine, rounds, seconds, figures, bars, absent };
  const path = join(import.meta.dirname, 'results', 'relay.json');
  await writeFile(path, `${JSON.stringify(kept, null, 2)}\n`);
  if (judgements.some(({ met }) => !met)) process.exitCode = 1;
}
