import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { FootprintError } from '../protocol/footprint.ts';
import { readFootprint } from './footprint-files.ts';

const REGIONS = fileURLToPath(new URL('../regions', import.meta.url));

let directory: string;
let good: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'regions-'));
  const text = await readFile(join(REGIONS, 'eu-central-1.yaml'), 'utf8');
  good = text.replace(/^failover: .*$/m, 'failover: []');
});
afterEach(() => rm(directory, { recursive: true }));

const write = (name: string, text: string) => writeFile(join(directory, name), text);

describe('the region files of this project', () => {
  test('fit together', async () => {
    const footprint = await readFootprint(REGIONS);
    const ids = Object.entries(footprint).map(([name, { id }]) => [name, id]);
    expect(Object.fromEntries(ids)).toMatchObject({
      'us-east-1': 1,
      'eu-central-1': 2,
      'ap-northeast-1': 3,
    });
  });
});

describe('reading', () => {
  test('takes the .yaml files and nothing else', async () => {
    await write('eu-central-1.yaml', good);
    await write('README.md', '# no region');
    await write('region.schema.json', '{}');
    expect(Object.keys(await readFootprint(directory))).toEqual(['eu-central-1']);
  });

  test('says what does not fit', async () => {
    await write('eu-central-1.yaml', good.replace('active', 'open'));
    await expect(readFootprint(directory)).rejects.toThrow('regions/eu-central-1.yaml: state: ');
  });

  test.each([
    [
      'a key that stands twice',
      (text: string) => `${text}id: 7\n`,
      /:15: Map keys must be unique$/,
    ],
    ['a bracket that stays open', (text: string) => text.replace(']', ''), /:\d+: Flow sequence/],
    [
      'a tag nobody knows',
      (text: string) => text.replace('id: ', 'id: !port '),
      /:2: Unresolved tag/,
    ],
    ['a second document', (text: string) => `${text}---\nid: 7\n`, /:15: .*multiple documents/],
    [
      'an alias to nothing',
      (text: string) => text.replace('id: 2', 'id: *two'),
      /: Unresolved alias/,
    ],
    [
      'a country that is a no',
      (text: string) => text.replace('[DE', '[NO, DE'),
      /:9: put NO in quotes/,
    ],
    [
      'a tab as indent',
      (text: string) => text.replace('  latitude', '\tlatitude'),
      /:\d+: .*[Tt]ab/,
    ],
  ])('refuses %s, with file and line', async (_, change, fault) => {
    await write('eu-central-1.yaml', change(good));
    const error = await readFootprint(directory).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(FootprintError);
    expect(error).toHaveProperty('faults.0', expect.stringMatching(fault));
    expect(error).toHaveProperty('faults.0', expect.stringMatching(/^regions\/eu-central-1\.yaml/));
  });

  test('refuses a name in capitals, and a folder in the place of a file', async () => {
    await write('eu-central-1.yaml', good);
    await write('us-east-1.YAML', good);
    await expect(readFootprint(directory)).rejects.toThrow('regions/us-east-1.YAML: name it .yaml');
    await mkdir(join(directory, 'us-west-2.yaml'));
    await expect(readFootprint(directory)).rejects.toThrow(
      'regions/us-west-2.yaml: cannot be read: ',
    );
  });

  test('tells the faults of all files at once', async () => {
    await write('eu-central-1.yaml', 'id: [');
    await write('us-east-1.yaml', 'id: {');
    const error = await readFootprint(directory).catch((reason: unknown) => reason);
    expect(String(error)).toMatch(/eu-central-1\.yaml:1: [^]*us-east-1\.yaml:1: /);
  });

  test('stops at aliases that would fill the memory', async () => {
    const levels = Array.from(
      { length: 9 },
      (_, i) => `l${i + 1}: &l${i + 1} [${`*l${i},`.repeat(9)}]`,
    );
    await write('eu-central-1.yaml', `l0: &l0 x\n${levels.join('\n')}\n`);
    await expect(readFootprint(directory)).rejects.toThrow('Excessive alias count');
  });

  test('does not pass over a .yml file', async () => {
    await write('eu-central-1.yaml', good);
    await write('us-east-1.yml', good);
    await expect(readFootprint(directory)).rejects.toThrow('regions/us-east-1.yml: name it .yaml');
  });

  test('says when a file is empty', async () => {
    await write('eu-central-1.yaml', '');
    await expect(readFootprint(directory)).rejects.toThrow('Expected Object but received null');
  });

  test('holds the files against the ledger beside them', async () => {
    await write('eu-central-1.yaml', good);
    await write('ledger.json', '{"eu-central-1":{"id":7,"cidr":"10.2.0.0/16"}}');
    await expect(readFootprint(directory)).rejects.toThrow('eu-central-1.yaml: id must stay 7');
    await write('ledger.json', '{');
    await expect(readFootprint(directory)).rejects.toThrow('regions/ledger.json: is not JSON: ');
  });

  test('says when there is no region file or no directory', async () => {
    await expect(readFootprint(directory)).rejects.toThrow('there is no region file');
    const nowhere = join(directory, 'nowhere');
    await expect(readFootprint(nowhere)).rejects.toThrow(`${nowhere}: cannot be read: ENOENT`);
  });
});
