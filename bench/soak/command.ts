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

const HELP = `Makes many calls through a whole local system, and ends with 1 when any was lost or left, or a limit did not hold.

  npm run soak               make 2000 calls, 20 a second
  npm run soak -- --help     print this

  --calls N    make so many, ${LEAST_CALLS} at least
  --rate N     so many a second`;

interface SoakOptions {
  readonly calls: number;
  /** Calls a second. */
  readonly rate: number;
}

await runProgram(HELP, readOptions, run);

function readOptions(args: readonly string[]): SoakOptions | undefined {
  const { values } = parseCommandLine({
    args: [...args],
    options: {
      calls: { type: 'string', default: '2000' },
      rate: { type: 'string', default: '20' },
      help: { type: 'boolean', short: 'h' },
    },
  });
  if (values.help) return undefined;
  const rate = Number(values.rate);
  if (!(rate > 0 && rate < Infinity)) {
    throw new OptionsError(`--rate ${values.rate} is no number above 0.`);
  }
  return { calls: wholeNumber('calls', values.calls, LEAST_CALLS), rate };
}

async function run(options: SoakOptions): Promise<void> {
  const result = await soak({ ...options, log: console.log });
  const { taken, refused, setup, seconds, settled, misses } = result;
  console.log(
    `${sum(taken)} calls taken and ${sum(refused)} refused in ${seconds.toFixed(0)} s, nothing left ` +
      `${settled.toFixed(0)} s after; setup ${setup.p50.toFixed(0)} ms (p50), ${setup.p99.toFixed(0)} ms (p99)`,
  );
  for (const miss of misses) console.log(`MISS ${miss}`);
  await keepResults('soak', { ...options, ...result });
  if (misses.length > 0) process.exitCode = 1;
}

function sum(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((total, count) => total + count, 0);
}
