/** `npm run simulate`: what the world's cities get from the footprint, and from others like it. */
import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { parseCommandLine, runProgram } from '../../origin/command-line.ts';
import { readFootprint } from '../../origin/footprint-files.ts';
import { FootprintError, steeringTable } from '../../protocol/footprint.ts';
import { readCities } from './cities.ts';
import { jsonOf } from './json.ts';
import { mapOf } from './map.ts';
import { PERCENTILES, simulateChanges, type Outcome } from './simulation.ts';

const REGIONS = fileURLToPath(new URL('../../regions', import.meta.url));

/** Characters of a percentile's column. */
const CELL = 18;

/** Nothing is sent, so a region needs no addresses. */
const NO_ENDPOINTS = { signaling: '', relays: [] };

const HELP = `Tells what the world's cities get from the footprint, from it without each region, and with
each planned one.

  npm run simulate                     print distances, round trips and shares of regions
  npm run simulate -- --regions DIR    take these region files
  npm run simulate -- --json FILE      keep the figures
  npm run simulate -- --svg FILE       draw a map
  npm run simulate -- --help           print this`;

interface SimulateOptions {
  readonly regions: string;
  readonly json?: string;
  readonly svg?: string;
}

await runProgram(HELP, readOptions, simulate);

function readOptions(args: readonly string[]): SimulateOptions | undefined {
  const { help, ...options } = parseCommandLine({
    args: [...args],
    options: {
      regions: { type: 'string', default: REGIONS },
      json: { type: 'string' },
      svg: { type: 'string' },
      help: { type: 'boolean', short: 'h' },
    },
  }).values;
  return help ? undefined : options;
}

async function simulate({ regions, json, svg }: SimulateOptions): Promise<void> {
  try {
    const footprint = await readFootprint(regions);
    const endpoints = Object.keys(footprint).map((name) => [name, NO_ENDPOINTS] as const);
    const table = steeringTable(footprint, Object.fromEntries(endpoints));
    const outcomes = simulateChanges(table, await readCities());
    console.log(report(outcomes));
    if (json !== undefined) await writeFile(json, jsonOf(outcomes));
    if (svg !== undefined) await writeFile(svg, mapOf(outcomes[0]!, table));
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    console.error(
      error instanceof FootprintError ? error.message : `Cannot simulate: ${error.message}`,
    );
    process.exitCode = 1;
  }
}

function report(outcomes: readonly Outcome[]): string {
  const width = Math.max(...outcomes.map(({ name }) => name.length));
  const header = PERCENTILES.map((p) => `p${p}`.padStart(CELL)).join('');
  const lines = outcomes.map(({ name, km, rtt, load }) => {
    const cells = PERCENTILES.map((p) => {
      const [far, long] = [Math.round(km[`p${p}`]!), Math.round(rtt[`p${p}`]!)];
      return `${far} km ${long} ms`.padStart(CELL);
    });
    const shares = Object.entries(load).map(
      ([region, share]) => `${region} ${(100 * share).toFixed(0)} %`,
    );
    return `${name.padEnd(width)}${cells.join('')}   ${shares.join(', ')}`;
  });
  return [`${'first hop'.padEnd(width)}${header}   sessions`, ...lines].join('\n');
}
