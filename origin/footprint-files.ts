/** Reads the footprint from its region files. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { LineCounter, parseDocument } from 'yaml';
import { checkFootprint, FootprintError, type Footprint } from '../protocol/footprint.ts';

const EXTENSION = '.yaml';

/**
 * @param directory Where the `NAME.yaml` files are; other files do not matter.
 * @throws FootprintError with every fault, by file, and by line where YAML itself is broken.
 */
export async function readFootprint(directory: string): Promise<Footprint> {
  const faults: string[] = [];
  const files: Record<string, unknown> = {};
  for (const file of await list(directory)) {
    if (file.endsWith('.yml')) faults.push(`regions/${file}: name it .yaml, or it is not read`);
    if (!file.endsWith(EXTENSION)) continue;
    const text = await readFile(join(directory, file), 'utf8');
    files[file.slice(0, -EXTENSION.length)] = parse(`regions/${file}`, text, faults);
  }
  if (faults.length > 0) throw new FootprintError(faults);
  return checkFootprint(files);
}

async function list(directory: string): Promise<string[]> {
  try {
    return (await readdir(directory)).toSorted();
  } catch (error) {
    throw new FootprintError([`${directory}: cannot be read: ${messageOf(error)}`]);
  }
}

function parse(file: string, text: string, faults: string[]): unknown {
  const lineCounter = new LineCounter();
  const document = parseDocument(text, { lineCounter, prettyErrors: false });
  // A warning is a value that would not be read as it is written.
  const broken = [...document.errors, ...document.warnings];
  for (const { pos, message } of broken) {
    faults.push(`${file}:${lineCounter.linePos(pos[0]).line}: ${message}`);
  }
  if (broken.length > 0) return undefined;
  try {
    return document.toJS();
  } catch (error) {
    faults.push(`${file}: ${messageOf(error)}`);
    return undefined;
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
