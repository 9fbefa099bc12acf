/** Calls that are set up and ended, as many a second as the machine takes. */
import { atLeast, atMost, type Bar } from '../transceiver/bench.ts';
import { ProcessWatch } from './process-watch.ts';
import { startLoadStack } from './stack.ts';

/** Kinds of failures that are told. */
const TOLD = 10;

export interface SetupsOptions {
  /** Calls at a time, of which those with the highest rate are measured at length. */
  readonly steps: readonly [number, ...number[]];
  /** Seconds of each step on the way to the highest rate. */
  readonly stepSeconds: number;
  /** Seconds at the highest rate. */
  readonly seconds: number;
  readonly log: (line: string) => void;
}

export interface SetupsFigures {
  /** Calls a second by how many are at it at a time. */
  readonly rates: Readonly<Record<string, number>>;
  readonly atOnce: number;
  readonly seconds: number;
  readonly setups: number;
  /** Calls a second that were offered, got their keys and were ended. */
  readonly rate: number;
  /** Milliseconds from the offer to the keys. */
  readonly setup: { readonly p50: number; readonly p99: number; readonly max: number };
  /** Share of a processor that each process used at that rate. */
  readonly cores: Readonly<Record<string, number>>;
  readonly failures: number;
  /** Failures in words, some of them, what was still there afterwards, and other trouble. */
  readonly misses: readonly string[];
}

export async function loadSetups({ steps, stepSeconds, seconds, log }: SetupsOptions) {
  const misses: string[] = [];
  await using load = await startLoadStack(log, (line) => misses.push(line));
  const failures: string[] = [];
  const measure = async (atOnce: number, length: number) => {
    const start = performance.now();
    const repeated = await load.callers.repeat(atOnce, length);
    const took = (performance.now() - start) / 1000;
    failures.push(...repeated.failures);
    const rate = repeated.took.length / took;
    log(`${atOnce} at a time: ${rate.toFixed(0)} setups a second`);
    return { rate, took: repeated.took };
  };

  // Modules are loaded and compiled by then.
  await measure(steps[0], stepSeconds);
  const rates: Record<string, number> = {};
  let best = { atOnce: 0, rate: 0 };
  for (const atOnce of steps) {
    const { rate } = await measure(atOnce, stepSeconds);
    rates[atOnce] = rate;
    if (rate > best.rate) best = { atOnce, rate };
  }
  await using watch = await ProcessWatch.start(load.pids);
  const { rate, took } = await measure(best.atOnce, seconds);
  const uses = Object.entries(await watch.stop());
  misses.push(...new Set(failures).values().take(TOLD));
  misses.push(...(await load.untilNothingIsLeft()));

  const sorted = took.toSorted((a, b) => a - b);
  const percentile = (part: number) => sorted[Math.floor((sorted.length - 1) * part)] ?? 0;
  const figures: SetupsFigures = {
    rates,
    atOnce: best.atOnce,
    seconds,
    setups: took.length,
    rate,
    setup: { p50: percentile(0.5), p99: percentile(0.99), max: percentile(1) },
    cores: Object.fromEntries(uses.map(([name, { cores }]) => [name, cores])),
    failures: failures.length,
    misses,
  };
  return { figures, bars: barsOf(figures) };
}

function barsOf({ setups, failures, misses }: SetupsFigures): Bar[] {
  return [
    atLeast('setups', setups, 1),
    atMost('setups that failed', failures, 0),
    atMost('left or in trouble', misses.length, 0),
  ];
}
