/** docs/threat-model.md names defences and tests that are there, and no test of attacks is missing in it. */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { execFile } from 'node:child_process';
import { join, normalize } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '..');
const FOLDER = 'docs';

/** Tests whose names say that they attack something. */
const ATTACKS =
  /(?:attacks|fuzz|hostile|smuggled|forged|bad-input|guards|refusals)[^/]*\.test\.ts$/;

/** What tests of Terraform refuse are mistakes of operators, and the soak's attackers have tests of their own. */
const NO_ATTACKS = new Set(['test/terraform/refusals.test.ts']);

interface Row {
  readonly attack: string;
  readonly defence: string;
  readonly proof: string;
}

const page = await readFile(join(ROOT, FOLDER, 'threat-model.md'), 'utf8');
const rows = readRows(page);

describe('the threat model', () => {
  test('has its rows', () => {
    expect(rows.length).toBeGreaterThan(40);
  });

  test.each(rows.map((row) => [row.attack, row] as const))('%s', async (_, { defence, proof }) => {
    const files = linksOf(defence);
    expect(files).not.toEqual([]);
    expect(files.filter((file) => !existsSync(join(ROOT, file)))).toEqual([]);

    const tests = proofsOf(proof);
    expect(tests).not.toEqual([]);
    // All that the cell holds is names of tests, so that none is passed over for how it is written.
    expect(proof.replaceAll(PROOF, '').replaceAll('; ', '').trim()).toBe('');
    for (const { file, title } of tests) {
      const titles = await titlesOf(file);
      expect(titles.filter((it) => it.startsWith(title))).not.toEqual([]);
    }
  });

  test('has a row for every test of attacks', async () => {
    const { stdout } = await promisify(execFile)('git', ['ls-files'], { cwd: ROOT });
    const files = stdout.split('\n').filter((file) => ATTACKS.test(file) && !NO_ATTACKS.has(file));
    const named = new Set(rows.flatMap(({ proof }) => proofsOf(proof)).map(({ file }) => file));
    expect(files.filter((file) => !named.has(file))).toEqual([]);
  });
});

/** Rows of the tables that have these columns. */
function readRows(text: string): Row[] {
  const found: Row[] = [];
  let isTable = false;
  for (const line of text.split('\n')) {
    const cells = line.startsWith('|') ? line.split('|').map((cell) => cell.trim()) : [];
    const [, attack, defence, proof, remains] = cells;
    if (attack === 'Attack') isTable = defence === 'Defence' && proof === 'Proven by';
    else if (cells.length === 0) isTable = false;
    else if (isTable && !/^-+$/.test(attack!)) {
      expect([line, cells.length, remains]).toEqual([line, 6, expect.stringMatching(/./)]);
      found.push({ attack: attack!, defence: defence!, proof: proof! });
    }
  }
  return found;
}

const LINK = /\[[^\]]*\]\(([^)#]+)(?:#[^)]*)?\)/g;
/** A linked file and, in quotes, how the title of a test in it begins. */
const PROOF = /\[[^\]]*\]\(([^)]+)\) “([^”]+)”/g;

function linksOf(cell: string): string[] {
  return [...cell.matchAll(LINK)].map(([, link]) => normalize(join(FOLDER, link!)));
}

function proofsOf(cell: string): { file: string; title: string }[] {
  return [...cell.matchAll(PROOF)].map(([, link, title]) => ({
    file: normalize(join(FOLDER, link!)),
    title: title!,
  }));
}

/** Titles of tests, as the file has them. */
async function titlesOf(file: string): Promise<string[]> {
  const text = await readFile(join(ROOT, file), 'utf8');
  const plain = /^ *(?:test|it|describe)\b.*?\(\s*(?:`([^`]+)`|'([^'\n]+)')/gms;
  const ofEach = /^ *\]?\)\(\s*(?:`([^`]+)`|'([^'\n]+)')/gms;
  const sameLine = /\)\(\s*(?:`([^`]+)`|'([^'\n]+)')/g;
  return [plain, ofEach, sameLine].flatMap((pattern) =>
    [...text.matchAll(pattern)].map(([, quoted, single]) => (quoted ?? single)!),
  );
}
