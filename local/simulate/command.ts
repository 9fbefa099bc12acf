/**
 * `npm run simulate -- [--regions DIR] [--json FILE] [--svg FILE]`: what the world's cities get from the
 * footprint, from it without each region, and with each planned one.
 */
import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { readFootprint } from '../../origin/footprint-files.ts';
import { FootprintError, steeringTable } from '../../protocol/footprint.ts';
import { readCities } from './cities.ts';
import { mapOf } from './map.ts';
import { PERCENTILES, simulateChanges, type Outcome } from './simulation.ts';

const REGIONS = fileURLToPath(new URL('../../regions', import.meta.url));

/** Characters of a percentile's column. */
const CELL = 18;

/** Nothing is sent, so a region needs no addresses. */
const NO_ENDPOINTS = { signaling: '', relays: [] };

const { values } = parseArgs({
  options: {
    regions: { type: 'string', default: REGIONS },
    json: { type: 'string' },
    svg: { type: 'string' },
  },
});

try {
  const footprint = await readFootprint(values.regions);
  const endpoints = Object.keys(footprint).map((name) => [name, NO_ENDPOINTS] as const);
  const table = steeringTable(footprint, Object.fromEntries(endpoints));
  const outcomes = simulateChanges(table, await readCities());
  console.log(report(outcomes));
  if (values.json !== undefined) await writeFile(values.json, jsonOf(outcomes));
  if (values.svg !== undefined) await writeFile(values.svg, mapOf(outcomes[0]!, table));
} catch (error) {
  if (!(error instanceof Error)) throw error;
  console.error(
    error instanceof FootprintError ? error.message : `Cannot simulate: ${error.message}`,
  );
  process.exitCode = 1;
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

function jsonOf(outcomes: readonly Outcome[]): string {
  const told = outcomes.map(({ name, km, rtt, load }) => ({ name, km, rtt, load }));
  return `${JSON.stringify(told, null, 2)}\n`;
}
