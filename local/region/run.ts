/** What `npm run region` does. */
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readFootprint } from '../../origin/footprint-files.ts';
import { checkFootprint, FootprintError, type Footprint } from '../../protocol/footprint.ts';
import { footprintOf } from './against.ts';
import { AWS_REGIONS } from './aws-regions.ts';
import { changesOf, removalRefusal } from './changes.ts';
import { readLedger, record, unrecorded, withGone, writeLedger } from './ledger-file.ts';
import { nearerCountries } from './nearer-countries.ts';
import { newRegion, RegionError, regionText } from './new-region.ts';
import { HELP, parseRegionOptions, RegionUsageError, type RegionOptions } from './options.ts';

const REGIONS_DIR = fileURLToPath(new URL('../../regions', import.meta.url));

/** Exit codes: the files or the change do not do; the command line is wrong. */
const EXIT_FAULTS = 1;
const EXIT_USAGE = 2;

/** Where lines go. */
export interface Output {
  log(line: string): void;
  error(line: string): void;
}

/** @returns The exit code; what is wrong has been told by then. */
export async function runRegion(args: readonly string[], output: Output): Promise<number> {
  try {
    return await run(parseRegionOptions(args), output);
  } catch (error) {
    if (error instanceof RegionUsageError) {
      output.error(`${error.message} See npm run region -- help.`);
      return EXIT_USAGE;
    }
    if (!(error instanceof FootprintError || error instanceof RegionError)) throw error;
    output.error(error.message);
    return EXIT_FAULTS;
  }
}

async function run(options: RegionOptions, output: Output): Promise<number> {
  if (options.command === 'help') {
    output.log(HELP);
    return 0;
  }
  const directory = options.regions ?? REGIONS_DIR;
  const footprint = await readFootprint(directory);
  switch (options.command) {
    case 'add':
      return add(directory, footprint, options, output);
    case 'remove':
      return remove(directory, footprint, options.name, output);
    case 'plan':
      return plan(directory, footprint, options.against, output);
    case 'list':
      return list(footprint, options.all, output);
    case 'record':
      await record(directory, footprint);
      break;
    case 'check':
  }
  return check(directory, footprint, output);
}

async function add(
  directory: string,
  footprint: Footprint,
  { name, wishes }: Extract<RegionOptions, { command: 'add' }>,
  output: Output,
): Promise<number> {
  const ledger = await readLedger(directory);
  const region = newRegion(name, wishes, footprint, ledger);
  const grown = checkFootprint({ ...footprint, [name]: region }, ledger);
  await writeFile(join(directory, `${name}.yaml`), regionText(region), { flag: 'wx' });
  await record(directory, grown);
  output.log(`regions/${name}.yaml: cluster ${region.id}, ${region.cidr}, planned.`);
  for (const line of await nearerCountries(name, grown)) output.log(line);
  output.log(`See what it will bring: npm run simulate, npm run region -- plan.
To build it: state: draining, and apply; then store its tunnel's token, and only then state: active, and apply.`);
  return 0;
}

async function remove(
  directory: string,
  footprint: Footprint,
  name: string,
  output: Output,
): Promise<number> {
  const region = Object.hasOwn(footprint, name) ? footprint[name] : undefined;
  if (region === undefined) throw new RegionError(`There is no region ${name}.`);
  if (region.state === 'active') throw new RegionError(removalRefusal(name));
  const { [name]: _, ...rest } = footprint;
  const ledger = withGone(await readLedger(directory), name, region);
  checkFootprint(rest, ledger);
  // The file last: without it and still in the ledger, nothing could be read any more.
  await writeLedger(directory, ledger);
  await rm(join(directory, `${name}.yaml`));
  output.log(`regions/${name}.yaml is gone; its id and network stay in the ledger.
See what that will do: npm run region -- plan.`);
  return 0;
}

async function check(directory: string, footprint: Footprint, output: Output): Promise<number> {
  const names = Object.keys(footprint);
  const missing = unrecorded(footprint, await readLedger(directory));
  output.log(`${names.length === 1 ? '1 region fits' : `${names.length} regions fit`} together.`);
  const strange = names.filter((name) => !Object.hasOwn(AWS_REGIONS, name));
  if (strange.length > 0) {
    output.log(
      `No region of AWS that this knows, so nothing can be built there unless it is new: ${strange.join(', ')}. See npm run region -- list --all.`,
    );
  }
  if (missing.length > 0) {
    output.log(
      `Not in the ledger yet, so their ids are not kept: ${missing.join(', ')}. Add them: npm run region -- record`,
    );
  }
  return 0;
}

async function plan(
  directory: string,
  footprint: Footprint,
  against: string,
  output: Output,
): Promise<number> {
  const before = await footprintOf(directory, against);
  const { lines, refusals } = changesOf(before, footprint);
  output.log(lines.join('\n'));
  for (const name of Object.keys(footprint).filter((it) => !Object.hasOwn(before, it))) {
    for (const line of await nearerCountries(name, footprint)) output.log(line);
  }
  for (const refusal of refusals) output.error(`\nDo not apply this. ${refusal}`);
  return refusals.length > 0 ? EXIT_FAULTS : 0;
}

function list(footprint: Footprint, all: boolean, output: Output): number {
  const rows = Object.entries(footprint)
    .toSorted(([, a], [, b]) => a.id - b.id)
    .map(([name, { id, state, cidr }]) => [name, placeOf(name), `cluster ${id}`, state, cidr]);
  const free = Object.keys(AWS_REGIONS).filter((name) => !(name in footprint));
  if (all) rows.push(...free.map((name) => [name, placeOf(name), 'not in the footprint']));
  const widths = rows[0]!.map((_, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0)));
  for (const row of rows) {
    output.log(
      row
        .map((cell, at) => cell.padEnd(widths[at]!))
        .join('  ')
        .trimEnd(),
    );
  }
  return 0;
}

function placeOf(name: string): string {
  return AWS_REGIONS[name]?.place ?? '';
}
