import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

const VITEST = fileURLToPath(new URL('../node_modules/vitest/vitest.mjs', import.meta.url));
const REPORTER = fileURLToPath(new URL('closing-line.ts', import.meta.url));
const CONFIG = `import { ClosingLine } from ${JSON.stringify(REPORTER)};
export default { test: { globals: true, reporters: ['default', new ClosingLine()] } };`;

let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'closing-line-'));
  await writeFile(join(directory, 'vitest.config.ts'), CONFIG);
});
afterEach(() => rm(directory, { recursive: true }));

/** Runs Vitest itself on files of these contents. */
async function run(...files: string[]): Promise<{ lastLine: string | undefined; code: number }> {
  await Promise.all(
    files.map((text, i) => writeFile(join(directory, `${i}.test.ts`), text, 'utf8')),
  );
  return new Promise((resolve) => {
    const args = [VITEST, 'run', '--root', directory];
    const child = execFile(process.execPath, args, (_error, stdout) => {
      const lastLine = stdout.trimEnd().split('\n').at(-1);
      resolve({ lastLine, code: child.exitCode ?? -1 });
    });
  });
}

describe('the closing line', () => {
  test('counts what passed', async () => {
    const result = await run(`test('a', () => {}); test('b', () => {});`, `test('c', () => {});`);
    expect(result).toEqual({ lastLine: '3 passed, 0 failed', code: 0 });
  });

  test('counts what failed and was skipped', async () => {
    const result = await run(`test('a', () => { expect(1).toBe(2); }); test.skip('b', () => {});`);
    expect(result).toEqual({ lastLine: '0 passed, 1 failed, 1 skipped', code: 1 });
  });

  test('counts a file that cannot be loaded as failed', async () => {
    const result = await run(`test('a', () => {});`, `throw new Error('at load');`);
    expect(result).toEqual({ lastLine: '1 passed, 1 failed', code: 1 });
  });

  test('counts a hook that fails', async () => {
    const result = await run(
      `describe('d', () => { afterAll(() => { throw new Error('hook'); }); test('a', () => {}); });`,
    );
    expect(result).toEqual({ lastLine: '1 passed, 1 failed', code: 1 });
  });

  test('counts an unhandled rejection as failed', async () => {
    const result = await run(
      `test('a', async () => { void Promise.reject(new Error('lost')); await new Promise((r) => setTimeout(r, 50)); });`,
    );
    expect(result).toEqual({ lastLine: '1 passed, 1 failed', code: 1 });
  });

  test('counts a worker that dies as failed', async () => {
    const result = await run(`test('a', () => { process.kill(process.pid, 'SIGKILL'); });`);
    expect(result.code).toBe(1);
    expect(result.lastLine).toMatch(/^0 passed, [1-9]\d* failed$/);
  });

  test('says that a run without tests failed', async () => {
    expect(await run()).toEqual({ lastLine: '0 passed, 1 failed', code: 1 });
  });
});
