/**
 * Inputs that fuzzing starts from, a file for each parser: what clients really send, what once broke something,
 * and what lies at the edges of a format.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as v from 'valibot';

const Common = { why: v.string(), taken: v.boolean() };
const CorpusSchema = v.array(
  v.union([
    v.strictObject({ ...Common, hex: v.pipe(v.string(), v.regex(/^(?:[0-9a-f]{2})*$/)) }),
    v.strictObject({ ...Common, text: v.string() }),
  ]),
);

export interface CorpusEntry {
  /** What it is, or what is wrong with it. */
  readonly why: string;
  /** Whether the parser takes it. */
  readonly taken: boolean;
  readonly bytes: Buffer;
}

/** @param parser The name of a file beside this one. @throws Error when it does not fit. */
export function readCorpus(parser: string): CorpusEntry[] {
  const file = join(import.meta.dirname, `${parser}.json`);
  const entries = v.parse(CorpusSchema, JSON.parse(readFileSync(file, 'utf8')));
  return entries.map((entry) => ({
    why: entry.why,
    taken: entry.taken,
    bytes: 'hex' in entry ? Buffer.from(entry.hex, 'hex') : Buffer.from(entry.text),
  }));
}
