/** `npm run cost`: what each region costs, by the prices beside this. */
import { fileURLToPath } from 'node:url';
import { parseCommandLine, runProgram } from '../../origin/command-line.ts';
import { readFootprint } from '../../origin/footprint-files.ts';
import { FootprintError } from '../../protocol/footprint.ts';
import { CostError } from './cost.ts';
import { report } from './report.ts';

const REGIONS = fileURLToPath(new URL('../../regions', import.meta.url));

const HELP = `Tells what each region costs, planned ones apart, by the prices in local/cost/prices.ts.

  npm run cost                     for a month, and for each million minutes of calls
  npm run cost -- --regions DIR    take these region files
  npm run cost -- --help           print this`;

await runProgram(HELP, readOptions, tell);

function readOptions(args: readonly string[]): { readonly regions: string } | undefined {
  const { help, regions } = parseCommandLine({
    args: [...args],
    options: {
      regions: { type: 'string', default: REGIONS },
      help: { type: 'boolean', short: 'h' },
    },
  }).values;
  return help ? undefined : { regions };
}

async function tell({ regions }: { readonly regions: string }): Promise<void> {
  try {
    console.log(report(await readFootprint(regions)));
  } catch (error) {
    if (!(error instanceof FootprintError || error instanceof CostError)) throw error;
    console.error(error.message);
    process.exitCode = 1;
  }
}
