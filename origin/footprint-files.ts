/** Reads the footprint from its region files. */
import { readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { type Document, LineCounter, parseDocument, visit } from 'yaml';
import { LEDGER_FILE } from '../protocol/footprint-ledger.ts';
import { checkFootprint, FootprintError, type Footprint } from '../protocol/footprint.ts';

/** The YAML of region files, as Terraform reads it: NO without quotes is false there, and 010 is eight. */
export const REGION_YAML = { version: '1.1' } as const;

const EXTENSION = '.yaml';
/** Of files that somebody may take for region files. */
const MISNAMED = /\.ya?ml$/i;
const LEDGER = basename(LEDGER_FILE);

/**
 * @param directory Where the `NAME.yaml` files and the ledger are; other files do not matter.
 * @throws FootprintError with every fault, by file, and by line where YAML itself is broken.
 */
export async function readFootprint(directory: string): Promise<Footprint> {
  return parseFootprint(await readFiles(directory));
}

/**
 * @param texts Of the files in a folder of regions, by their names.
 * @throws FootprintError as {@link readFootprint} does.
 */
export function parseFootprint(texts: Readonly<Record<string, string>>): Footprint {
  const faults: string[] = [];
  const files: Record<string, unknown> = {};
  for (const [file, text] of Object.entries(texts)) {
    if (!file.endsWith(EXTENSION)) {
      if (MISNAMED.test(file)) faults.push(`regions/${file}: name it .yaml, or it is not read`);
      continue;
    }
    files[file.slice(0, -EXTENSION.length)] = parse(`regions/${file}`, text, faults);
  }
  const ledger = parseLedger(texts[LEDGER], faults);
  if (faults.length > 0) throw new FootprintError(faults);
  return checkFootprint(files, ledger);
}

async function readFiles(directory: string): Promise<Record<string, string>> {
  const texts: Record<string, string> = {};
  for (const file of await list(directory)) {
    if (!isOfFootprint(file)) continue;
    try {
      texts[file] = await readFile(join(directory, file), 'utf8');
    } catch (error) {
      throw new FootprintError([`regions/${file}: cannot be read: ${messageOf(error)}`]);
    }
  }
  return texts;
}

/** Whether a file of a folder of regions is read, or told as misnamed. */
export function isOfFootprint(file: string): boolean {
  return file === LEDGER || MISNAMED.test(file);
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
  const document = parseDocument(text, { ...REGION_YAML, lineCounter, prettyErrors: false });
  // A warning is a value that would not be read as it is written.
  const broken = [...document.errors, ...document.warnings, ...switches(document)];
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

/** Words that look like texts and are true or false to YAML 1.1. */
const SWITCH = /^(?:y|yes|n|no|on|off)$/i;

function switches(document: Document): { pos: readonly [number, ...number[]]; message: string }[] {
  const found: ReturnType<typeof switches> = [];
  visit(document, {
    Scalar: (_, { type, source, range }) => {
      if (type !== 'PLAIN' || source === undefined || !SWITCH.test(source)) return;
      found.push({
        pos: range ?? [0],
        message: `put ${source} in quotes: YAML takes it for a yes or no`,
      });
    },
  });
  return found;
}

/** An empty one where there is no file. */
function parseLedger(text: string | undefined, faults: string[]): unknown {
  try {
    return text === undefined ? {} : JSON.parse(text);
  } catch (error) {
    faults.push(`${LEDGER_FILE}: is not JSON: ${messageOf(error)}`);
    return undefined;
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
