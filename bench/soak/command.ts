/**
 * `npm run soak -- --calls N --rate N`: makes that many calls, so many a second, through a whole local system. Keeps
 * what came of it under bench/results, and ends with 1 when anything was lost or left, or a limit did not hold.
 */
import { parseArgs } from 'node:util';
import { keepResults } from '../results.ts';
import { LEAST_CALLS } from './plan.ts';
import { soak } from './soak.ts';

const USAGE = `Usage: npm run soak -- [--calls N] [--rate N]\nAt least ${LEAST_CALLS} calls.`;

const { values } = parseArgs({
  options: {
    calls: { type: 'string', default: '2000' },
    rate: { type: 'string', default: '20' },
  },
});
const [calls, rate] = [Number(values.calls), Number(values.rate)];

if (!Number.isInteger(calls) || calls < LEAST_CALLS || !(rate > 0)) {
  console.error(USAGE);
  process.exitCode = 2;
} else {
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
