/** The ledger beside the region files. */
import { readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import * as v from 'valibot';
import { LEDGER_FILE, LedgerSchema, type Ledger } from '../../protocol/footprint-ledger.ts';
import type { Region } from '../../protocol/footprint-region.ts';
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

/** Regions of the footprint that the ledger does not have yet, or has as gone. */
export function unrecorded(footprint: Footprint, ledger: Ledger): string[] {
  return Object.keys(footprint).filter(
    (name) => !Object.hasOwn(ledger, name) || ledger[name]!.gone === true,
  );
}

/** Adds the regions that it lacks; forgets none. */
export async function record(directory: string, footprint: Footprint): Promise<void> {
  const ledger = await readLedger(directory);
  const added = unrecorded(footprint, ledger).map((name) => {
    const { id, cidr } = footprint[name]!;
    return [name, { id, cidr }] as const;
  });
  if (added.length > 0) await writeLedger(directory, { ...ledger, ...Object.fromEntries(added) });
}

/** The ledger in which the region is gone. */
export function withGone(ledger: Ledger, name: string, { id, cidr }: Region): Ledger {
  return { ...ledger, [name]: { id, cidr, gone: true } };
}

/** In the order of ids, a line for each. */
export async function writeLedger(directory: string, ledger: Ledger): Promise<void> {
  const lines = Object.entries(ledger)
    .toSorted(([, a], [, b]) => a.id - b.id)
    .map(([name, { id, cidr, gone }]) => {
      const end = gone === true ? ', "gone": true' : '';
      return `  "${name}": { "id": ${id}, "cidr": "${cidr}"${end} }`;
    });
  await writeFile(fileIn(directory), `{\n${lines.join(',\n')}\n}\n`);
}
