import { execFile } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { readFootprint } from '../../origin/footprint-files.ts';
import { runRegion } from './run.ts';

const run = promisify(execFile);
const REGIONS = fileURLToPath(new URL('../../regions', import.meta.url));

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'region-'));
  for (const file of ['us-east-1.yaml', 'eu-central-1.yaml', 'ledger.json']) {
    await cp(join(REGIONS, file), join(directory, file));
  }
  await edit('ledger.json', '"10.3.0.0/16" }', '"10.3.0.0/16", "gone": true }');
});
afterEach(() => rm(directory, { recursive: true }));

interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

async function region(...args: string[]): Promise<Outcome> {
  let [stdout, stderr] = ['', ''];
  const code = await runRegion([...args, '--regions', directory], {
    log: (line) => (stdout += `${line}\n`),
    error: (line) => (stderr += `${line}\n`),
  });
  return { code, stdout, stderr };
}

const path = (file: string): string => join(directory, file);
const read = (file: string): Promise<string> => readFile(path(file), 'utf8');

async function edit(file: string, from: string | RegExp, to: string): Promise<void> {
  const text = await read(file);
  const changed = text.replace(from, to);
  expect(changed).not.toBe(text);
  await writeFile(path(file), changed);
}

describe('region add', () => {
  test('writes a file that fits, with the next id and network that nobody ever had', async () => {
    // The third is gone.
    expect(await region('add', 'sa-east-1')).toMatchObject({ code: 0, stderr: '' });
    const footprint = await readFootprint(directory);
    expect(footprint['sa-east-1']).toMatchObject({
      id: 4,
      state: 'planned',
      cidr: '10.4.0.0/16',
      azs: ['sa-east-1a', 'sa-east-1b'],
      geo: { latitude: -23.55, longitude: -46.63 },
      failover: ['us-east-1'],
    });
    expect(JSON.parse(await read('ledger.json'))).toMatchObject({
      'ap-northeast-1': { id: 3, cidr: '10.3.0.0/16' },
      'sa-east-1': { id: 4, cidr: '10.4.0.0/16' },
    });
  });

  test('says which countries are nearer to it, and in which order it is built', async () => {
    const { stdout } = await region('add', 'sa-east-1');
    expect(stdout).toContain(
      'Nearer to sa-east-1 than to us-east-1: BR, AR. Move them to its geo.countries, from regions/us-east-1.yaml.',
    );
    expect(stdout).not.toContain('eu-central-1');
    expect(stdout).toMatch(/state: draining, .*token, .*state: active, and apply\.\n$/);
    expect((await region('plan', '--against', REGIONS)).stdout).toContain('Nearer to sa-east-1');
  });

  test('gives a region that comes back what it had', async () => {
    await region('add', 'ap-northeast-1');
    const { id, cidr } = (await readFootprint(directory))['ap-northeast-1']!;
    expect({ id, cidr }).toEqual({ id: 3, cidr: '10.3.0.0/16' });
    expect(await read('ledger.json')).not.toContain('gone');
  });

  test('takes what is wished for instead', async () => {
    const wishes = ['--id', '77', '--cidr', '10.77.0.0/16', '--failover', 'us-east-1,eu-central-1'];
    const place = ['--latitude=-1.5', '--longitude', '8', '--azs', 'xx-new-1a,xx-new-1c'];
    expect(await region('add', 'xx-new-1', ...wishes, ...place)).toMatchObject({ code: 0 });
    expect((await readFootprint(directory))['xx-new-1']).toMatchObject({
      id: 77,
      cidr: '10.77.0.0/16',
      azs: ['xx-new-1a', 'xx-new-1c'],
      geo: { latitude: -1.5, longitude: 8 },
      failover: ['us-east-1', 'eu-central-1'],
    });
  });

  test.each([
    [['us-east-1'], 1, 'There is a region us-east-1 already'],
    [['xx-new-1'], 1, 'xx-new-1 is no region that this knows'],
    [['constructor'], 1, 'constructor is no region that this knows'],
    [['sa-east-1', '--id', '3'], 1, 'id 3 is that of ap-northeast-1 in regions/ledger.json'],
    [['sa-east-1', '--id', '0'], 1, 'regions/sa-east-1.yaml: id: '],
    [['sa-east-1', '--cidr', '10.1.0.0/16'], 1, 'both have cidr 10.1.0.0/16'],
    [['sa-east-1', '--azs', 'sa-east-1a'], 1, 'regions/sa-east-1.yaml: azs: '],
    [['sa-east-1', '--failover', 'mars'], 1, 'regions/sa-east-1.yaml: failover.0: '],
    [['../sa-east-1', '--latitude', '1', '--longitude', '1', '--azs', 'a,b'], 1, 'name the file'],
    [['sa-east-1', '--id', 'four'], 2, '--id four is not a number.'],
    [['sa-east-1', 'us-west-2'], 2, 'add takes no "us-west-2".'],
    [['sa-east-1', '--against', 'x'], 2, 'add takes no --against.'],
    [[], 2, 'Give the region to add'],
  ])('of %j writes nothing', async (args, code, fault) => {
    const ledger = await read('ledger.json');
    const outcome = await region('add', ...args);
    expect(outcome).toMatchObject({ code, stdout: '' });
    expect(outcome.stderr).toContain(fault);
    expect(Object.keys(await readFootprint(directory))).toHaveLength(2);
    expect(await read('ledger.json')).toBe(ledger);
  });
});

describe('region remove', () => {
  test('takes away the file of a drained region, and keeps what it had', async () => {
    await region('add', 'sa-east-1');
    await edit('sa-east-1.yaml', 'planned', 'draining');
    const text = await read('sa-east-1.yaml');
    expect(await region('remove', 'sa-east-1')).toMatchObject({ code: 0, stderr: '' });
    expect(Object.keys(await readFootprint(directory))).toHaveLength(2);
    expect(JSON.parse(await read('ledger.json'))).toMatchObject({
      'sa-east-1': { id: 4, cidr: '10.4.0.0/16', gone: true },
    });
    await region('add', 'sa-east-1');
    expect(await read('sa-east-1.yaml')).toBe(text.replace('draining', 'planned'));
  });

  test.each([
    [['us-east-1'], 1, 'regions/us-east-1.yaml: an active region must not go'],
    [['ap-northeast-1'], 1, 'There is no region ap-northeast-1.'],
    [['constructor'], 1, 'There is no region constructor.'],
    [['sa-east-1'], 1, 'regions/us-east-1.yaml: failover names sa-east-1, which has no file'],
    [[], 2, 'Give the region to remove'],
  ])('of %j takes nothing away', async (args, code, fault) => {
    await region('add', 'sa-east-1');
    await edit('us-east-1.yaml', 'failover: [', 'failover: [sa-east-1, ');
    const outcome = await region('remove', ...args);
    expect(outcome).toMatchObject({ code, stdout: '' });
    expect(outcome.stderr).toContain(fault);
    expect(Object.keys(await readFootprint(directory))).toHaveLength(3);
  });

  test('is what a missing file is not, which every command refuses', async () => {
    await rm(path('eu-central-1.yaml'));
    await edit('us-east-1.yaml', /failover: .*/, 'failover: []');
    const { code, stderr } = await region('check');
    expect(code).toBe(1);
    expect(stderr).toContain('regions/eu-central-1.yaml: the file is missing');
  });
});

describe('region check', () => {
  test('says that all fit, and what the ledger lacks until it is recorded', async () => {
    expect(await region('check')).toMatchObject({ code: 0, stdout: '2 regions fit together.\n' });
    await region('add', 'sa-east-1');
    await writeFile(path('ledger.json'), '{}\n');
    const { code, stdout } = await region('check');
    expect(code).toBe(0);
    expect(stdout).toContain('Not in the ledger yet');
    expect((await region('record')).stdout).toBe('3 regions fit together.\n');
    expect(Object.keys(JSON.parse(await read('ledger.json')))).toEqual([
      'us-east-1',
      'eu-central-1',
      'sa-east-1',
    ]);
  });

  test('says of a name that it is no region of AWS, which it may be all the same', async () => {
    const text = await read('us-east-1.yaml');
    const planned = text.replaceAll('us-east-1', 'us-esat-1').replace('active', 'planned');
    await writeFile(
      path('us-esat-1.yaml'),
      planned.replace('id: 1', 'id: 9').replace('.1.', '.9.'),
    );
    await edit('us-esat-1.yaml', /geo:\n(?: .*\n)+/, 'geo: { latitude: 1, longitude: 1 }\n');
    const { code, stdout } = await region('check');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^No region of AWS that this knows, .*: us-esat-1\. See /m);
    expect(stdout).not.toMatch(/^No region of AWS.*us-east-1/m);
  });

  test('tells every fault of every file', async () => {
    await edit('us-east-1.yaml', 'id: 1', 'id: 9');
    await edit('us-east-1.yaml', 'us-east-1b', 'us-west-1b');
    await edit('eu-central-1.yaml', '10.2.0.0/16', '10.9.0.0/16');
    const { code, stderr } = await region('check');
    expect(code).toBe(1);
    expect(stderr).toContain('regions/us-east-1.yaml: id must stay 1');
    expect(stderr).toContain('regions/us-east-1.yaml: us-west-1b is not a zone of us-east-1');
    expect(stderr).toContain('regions/eu-central-1.yaml: cidr must stay 10.2.0.0/16');
  });
});

describe('region plan', () => {
  test('compares with the last commit, and with other revisions and folders', async () => {
    const git = (...args: string[]) =>
      run('git', ['-C', directory, '-c', 'user.name=t', '-c', 'user.email=t@t.example', ...args]);
    await git('init', '-q');
    await git('add', '.');
    await git('commit', '-qm', 'Two regions');
    expect(await region('plan')).toMatchObject({ code: 0, stdout: 'Nothing changes.\n' });
    await region('add', 'sa-east-1');
    expect((await region('plan')).stdout).toMatch(
      /^sa-east-1 is listed as cluster 4, planned: nothing is built\.\nUpdated in place/,
    );
    await edit('sa-east-1.yaml', 'planned', 'active');
    const { code, stdout } = await region('plan');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^sa-east-1 is new, as cluster 4, active\. Created there/);
    expect(stdout).toContain('2 peerings: with eu-central-1, us-east-1');
    await git('add', '.');
    await git('commit', '-qm', 'Three regions');
    expect((await region('plan')).stdout).toBe('Nothing changes.\n');
    expect((await region('plan', '--against', 'HEAD~1')).stdout).toBe(stdout);
    expect((await region('plan', '--against', directory)).stdout).toBe('Nothing changes.\n');
  });

  test.each(['no-such-revision', '--output=file'])('knows no revision %s', async (revision) => {
    const { code, stderr } = await region('plan', `--against=${revision}`);
    expect(code).toBe(1);
    expect(stderr).toContain(`${revision} is neither a folder nor a revision of git`);
  });

  test('says when what it compares with does not fit', async () => {
    const other = await mkdtemp(join(tmpdir(), 'region-'));
    const { code, stderr } = await region('plan', '--against', other);
    await rm(other, { recursive: true });
    expect(code).toBe(1);
    expect(stderr).toMatch(/^In \/.*: The region files do not fit:\n {2}regions\/: there is no/);
  });
});

describe('the command line', () => {
  test('lists regions, and those of the cloud', async () => {
    const { stdout } = await region('list');
    expect(stdout).toMatch(/^us-east-1 .*cluster 1 .*\neu-central-1 .*cluster 2 .*\n$/);
    expect((await region('list', '--all')).stdout).toMatch(/^sa-east-1 .*not in the footprint$/m);
  });

  test('teaches', async () => {
    const { code, stdout } = await region('help');
    expect(code).toBe(0);
    for (const word of [
      'add NAME',
      'remove NAME',
      'check',
      'plan',
      'list',
      'record',
      '--against',
      'draining',
    ]) {
      expect(stdout).toContain(word);
    }
  });

  test.each([['destroy'], ['check', '--all'], ['list', '--nothing'], ['toString']])(
    'that is wrong, %s, ends with 2',
    async (...args) => {
      const { code, stderr } = await region(...args);
      expect(code).toBe(2);
      expect(stderr).toMatch(/See npm run region -- help\.\n$/);
    },
  );
});
