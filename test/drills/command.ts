/**
 * `npm run drills`: breaks what can break under calls that go on, and ends with 1 when something did not hold. Figures
 * of a whole run are kept under bench/results.
 */
import process from 'node:process';
import { keepResults } from '../../bench/results.ts';
import { formatTable } from '../../local/table.ts';
import { OptionsError, parseCommandLine, runProgram } from '../../origin/command-line.ts';
import type { Drill, DrillResult } from './drill.ts';
import { allDrills, runDrill } from './run.ts';

const HEADER = ['drill', '', 'calls', 'lost', 'gap ms', 'recovery ms', 's', 'what must hold'];

/** What is not measured in a drill. */
const NOT_MEASURED = '-';

const drills = await allDrills();

const HELP = `Breaks one thing after another under calls that go on, tells what was measured beside what must hold, and ends
with 1 when something did not. Each drill starts a system of its own: the edge and two regions, with real processes.

  npm run drills                 run all, and keep the figures in bench/results
  npm run drills -- NAME...      run these; keeps nothing
  npm run drills -- --verbose    tell what goes on within each
  npm run drills -- --help       print this

The drills, and what must hold in each:

${drills.map(({ name, holds }) => `  ${name}\n      ${holds}`).join('\n')}

Calls are those of libwebrtc, which say a tone and hear it come back. Lost are those that do not at the end; the gap
is the longest time without audio in any of them; recovery is the time from the end of a fault until all is as before.`;

interface DrillsCommand {
  readonly chosen: readonly Drill[];
  readonly verbose: boolean;
}

await runProgram(HELP, readOptions, run);
// libwebrtc's threads would keep the process.
process.exit();

function readOptions(args: readonly string[]): DrillsCommand | undefined {
  const { positionals, values } = parseCommandLine({
    args: [...args],
    allowPositionals: true,
    options: {
      verbose: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h' },
    },
  });
  if (values.help) return undefined;
  const unknown = positionals.find((name) => !drills.some((drill) => drill.name === name));
  if (unknown !== undefined) throw new OptionsError(`There is no drill ${unknown}.`);
  const isChosen = ({ name }: Drill) => positionals.length === 0 || positionals.includes(name);
  return { chosen: drills.filter(isChosen), verbose: values.verbose };
}

async function run({ chosen, verbose }: DrillsCommand): Promise<void> {
  const interruption = untilInterrupted();
  const results: DrillResult[] = [];
  for (const drill of chosen) {
    if (interruption.aborted) break;
    const log = (line: string) => verbose && console.log(`  ${line}`);
    const result = await runDrill(drill, interruption, log);
    results.push(result);
    console.log(lineOf(result));
  }
  console.log(`\n${formatTable([HEADER, ...results.map(rowOf)])}`);
  const passed = results.filter(({ misses }) => misses.length === 0).length;
  console.log(`\n${passed} of ${chosen.length} drills held.`);
  if (passed < chosen.length) process.exitCode = 1;
  if (results.length === drills.length && !interruption.aborted) {
    await keepResults('drills', { drills: results });
  }
}

function lineOf(result: DrillResult): string {
  const { name, misses, figures, seconds } = result;
  const time = `${seconds.toFixed(0)} s`;
  if (misses.length > 0) return [`FAIL ${name} (${time})`, ...misses].join('\n     - ');
  const note = figures?.note === undefined ? '' : `: ${figures.note}`;
  return `ok   ${name} (${time})${note}`;
}

function rowOf({ name, holds, misses, figures, seconds }: DrillResult): string[] {
  return [
    name,
    misses.length === 0 ? 'ok' : 'FAIL',
    ...[figures?.calls, figures?.lost, figures?.gap, figures?.recovery, seconds].map(rounded),
    holds,
  ];
}

function rounded(value: number | undefined): string {
  return value?.toFixed(0) ?? NOT_MEASURED;
}

/** Aborted at the first SIGINT or SIGTERM; later ones change nothing, the end is under way. */
function untilInterrupted(): AbortSignal {
  const controller = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => controller.abort(new Error('It was interrupted.')));
  }
  return controller.signal;
}
