/** Where figures are kept, with the machine that gave them. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { machineFacts } from './machine.ts';

export async function keepResults(name: string, measured: object): Promise<void> {
  const results = join(import.meta.dirname, 'results');
  await mkdir(results, { recursive: true });
  const measuredAt = new Date().toISOString();
  const kept = { measuredAt, machine: await machineFacts(), ...measured };
  await writeFile(join(results, `${name}.json`), `${JSON.stringify(kept, null, 2)}\n`);
}
