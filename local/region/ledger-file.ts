/** The ledger beside the region files. */
import { readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import * as v from 'valibot';
import { LEDGER_FILE, LedgerSchema, type Ledger } from '../../protocol/footprint-ledger.ts';
import type { Footprint } from '../../protocol/footprint.ts';

const fileIn = (directory: string): string => join(directory, basename(LEDGER_FILE));

/** An empty one where there is no file. Read a footprint first: that tells what is wrong with it. */
export async function readLedger(directory: string): Promise<Ledger> {
  try {
    return v.parse(LedgerSchema, JSON.parse(await readFile(fileIn(directory), 'utf8')));
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return {};
    throw error;
  }
}

/** Regions of the footprint that the ledger does not have yet. */
export function unrecorded(footprint: Footprint, ledger: Ledger): string[] {
  return Object.keys(footprint).filter((name) => !Object.hasOwn(ledger, name));
}

/** Adds the regions that it lacks, in the order of ids; forgets none. */
export async function record(directory: string, footprint: Footprint): Promise<void> {
  const ledger = await readLedger(directory);
  const added = unrecorded(footprint, ledger).map((name) => [name, footprint[name]!] as const);
  if (added.length === 0) return;
  const lines = [...Object.entries(ledger), ...added]
    .toSorted(([, a], [, b]) => a.id - b.id)
    .map(([name, { id, cidr }]) => `  "${name}": { "id": ${id}, "cidr": "${cidr}" }`);
  await writeFile(fileIn(directory), `{\n${lines.join(',\n')}\n}\n`);
}
