/** `npm start` and its check must tell what is broken, what calls do, and end when they are told. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { describeLog } from '../local/call-log.ts';
import { checkStack } from '../local/check.ts';
import { placeOfRegion } from '../local/place.ts';
import { scriptedCall, ScriptedCallError } from '../local/scripted-call.ts';
import { REGIONS_DIR, startStack, type Stack } from '../local/stack.ts';
import { descendants, isAlive } from './support/processes.ts';

const START = fileURLToPath(new URL('../local/start.ts', import.meta.url));

/** Milliseconds until what is awaited counts as never coming. */
const PATIENCE = 60_000;

let stack: Stack;
let regionsDir: string;
const log: string[] = [];
const trouble: string[] = [];

/** Copies the region files and lets one of them drain. */
async function writeRegions(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'regions-'));
  await cp(REGIONS_DIR, directory, { recursive: true });
  const file = join(directory, 'ap-northeast-1.yaml');
  const text = await readFile(file, 'utf8');
  await writeFile(file, text.replace(/^state: .*$/m, 'state: draining'));
  return directory;
}

beforeAll(async () => {
  regionsDir = await writeRegions();
  stack = await startStack({
    regionsDir,
    transceivers: { 'eu-central-1': 0 },
    logLevel: 'info',
    onLog: (line) => log.push(line),
    onTrouble: (line) => trouble.push(line),
  });
});
afterAll(async () => {
  await stack?.close();
  await rm(regionsDir, { recursive: true });
});

test('the check names a region that cannot take its calls, and skips one that should not', async () => {
  const lines: string[] = [];
  expect(await checkStack(stack, (line) => lines.push(line))).toBe(false);
  const output = lines.join('\n');
  expect(output).toContain('FAILED eu-central-1: the call went to us-east-1');
  expect(output).toMatch(/^us-east-1 .*transceiver \d/m);
  expect(output).toContain('ap-northeast-1 skipped: draining');
  expect(output).toContain('1 of 2 calls got through.');
});

test('each call has a line when it starts and one when it ends', async () => {
  const place = placeOfRegion(stack.footprint['us-east-1']!);
  log.length = 0;
  await scriptedCall({ edge: stack.edge, place });
  const told = () => log.map(describeLog).filter((line) => line?.kind === 'call');
  await vi.waitFor(() => expect(told()).toHaveLength(2), { timeout: PATIENCE });
  const [start, end] = told().map((line) => line!.text);
  const [, name] = /^call (\w+) starts: us-east-1, transceiver \d$/.exec(start!)!;
  expect(end).toMatch(
    new RegExp(`^call ${name} ends: +us-east-1, transceiver \\d, after \\d+\\.\\d s: deleted$`),
  );
});

test('the check fails when no region is active', async () => {
  const planned = Object.entries(stack.footprint).map(
    ([name, region]) => [name, { ...region, state: 'planned' as const }] as const,
  );
  const lines: string[] = [];
  const idle = { ...stack, footprint: Object.fromEntries(planned) };
  expect(await checkStack(idle, (line) => lines.push(line))).toBe(false);
  expect(lines.join('\n')).toContain('no region is active');
});

test('a region that dies is reported with what that means', async () => {
  process.kill(stack.regions.get('us-east-1')!.pid, 'SIGKILL');
  await vi.waitFor(() => expect(trouble).toHaveLength(1), { timeout: PATIENCE });
  expect(trouble[0]).toContain('us-east-1: its process has ended by SIGKILL.');
  // The only other active region has no transceiver.
  expect(trouble[0]).toContain('new ones fail');
});

test('a call that cannot reach the edge says so', async () => {
  const place = placeOfRegion(stack.footprint['us-east-1']!);
  const call = scriptedCall({ edge: 'http://127.0.0.1:9', place });
  await expect(call).rejects.toThrow(ScriptedCallError);
  await expect(call).rejects.toThrow('The edge at http://127.0.0.1:9 cannot be reached');
});

test.each([
  [['--chek'], 2, "Unknown option '--chek'"],
  [['--help'], 0, 'npm start -- --check'],
])('the command line %j ends with %i', async (args, code, text) => {
  const result = await run(args);
  expect(result.code).toBe(code);
  expect(result.output).toContain(text);
});

test('a port that is asked for and taken ends the start', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const address = server.address();
  const port = typeof address === 'object' ? String(address?.port) : '';
  const result = await run(['--check', '--port', port]);
  expect(result.code).toBe(1);
  expect(result.output).toContain(`TCP port ${port} of localhost is taken`);
});

test('Ctrl-C in the middle of the start leaves nothing behind', async () => {
  const child = spawn(process.execPath, [START, '--check'], { stdio: ['ignore', 'pipe', 'pipe'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  const exit = once(child, 'exit');
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (text: Buffer) => (stdout += text.toString()));
  child.stderr.on('data', (text: Buffer) => (stderr += text.toString()));
  await vi.waitFor(() => expect(stdout).toContain(' ready: '), { timeout: PATIENCE });
  const family = await descendants(child.pid!);
  expect(family.length).toBeGreaterThanOrEqual(5);
  child.kill('SIGINT');
  expect(await exit).toEqual([0, null]);
  expect(stderr.replaceAll(/^\(.*Warning.*|^\(Use .*/gm, '').trim()).toBe('');
  await vi.waitFor(() => expect(family.filter(isAlive)).toEqual([]), { timeout: PATIENCE });
});

function run(args: readonly string[]): Promise<{ code: number | null; output: string }> {
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [START, ...args], (_error, stdout, stderr) => {
      resolve({ code: child.exitCode, output: stdout + stderr });
    });
  });
}
