/**
 * `npm run soak -- --calls N --rate N`: makes that many calls, so many a second, through a whole local system. Keeps
 * what came of it under bench/results, and ends with 1 when anything was lost or left, or a limit did not hold.
 */
import {
  OptionsError,
  parseCommandLine,
  runProgram,
  wholeNumber,
} from '../../origin/command-line.ts';
import { keepResults } from '../results.ts';
import { LEAST_CALLS } from './plan.ts';
import { soak } from './soak.ts';

const HELP = `Makes calls through a whole local system, and ends with 1 when one was lost or left, or a limit did not hold.

  npm run soak                 make 2000 calls, 20 a second
  npm run soak -- --calls N    make so many, ${LEAST_CALLS} at least
  npm run soak -- --rate N     start so many a second
  npm run soak -- --help       print this`;

interface SoakCommand {
  readonly calls: number;
  readonly rate: number;
}

await runProgram(HELP, readOptions, run);

function readOptions(args: readonly string[]): SoakCommand | undefined {
  const { calls, rate, help } = parseCommandLine({
    args: [...args],
    options: {
      calls: { type: 'string', default: '2000' },
      rate: { type: 'string', default: '20' },
      help: { type: 'boolean', short: 'h' },
    },
  }).values;
  if (help) return undefined;
  if (!(Number(rate) > 0)) throw new OptionsError(`--rate ${rate} is no number above 0.`);
  return { calls: wholeNumber('calls', calls, LEAST_CALLS), rate: Number(rate) };
}

async function run({ calls, rate }: SoakCommand): Promise<void> {
  const result = await soak({ calls, rate, log: console.log });
  const { taken, refused, setup, seconds, settled, misses } = result;
  console.log(
    `${sum(taken)} calls taken and ${sum(refused)} refused in ${seconds.toFixed(0)} s, nothing left ` +
      `${settled.toFixed(0)} s after; setup ${setup.p50.toFixed(0)} ms (p50), ${setup.p99.toFixed(0)} ms (p99)`,
  );
  for (const miss of misses) console.log(`MISS ${miss}`);
  await keepResults('soak', { calls, rate, ...result });
  if (misses.length > 0) process.exitCode = 1;
}

function sum(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((total, count) => total + count, 0);
}
