import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

const VITEST = fileURLToPath(new URL('../node_modules/vitest/vitest.mjs', import.meta.url));
const REPORTER = fileURLToPath(new URL('closing-line.ts', import.meta.url));
const OPTIONAL_PROGRAM = fileURLToPath(new URL('support/optional-program.ts', import.meta.url));
const CONFIG = `import { ClosingLine } from ${JSON.stringify(REPORTER)};
export default { test: { globals: true, reporters: ['default', new ClosingLine()] } };`;

let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'closing-line-'));
  await writeFile(join(directory, 'vitest.config.ts'), CONFIG);
});
afterEach(() => rm(directory, { recursive: true }));

interface Outcome {
  readonly lastLine: string | undefined;
  readonly code: number;
}

/** Runs Vitest itself on files of these contents. */
async function run(...files: string[]): Promise<Outcome> {
  const { lines, code } = await runWith(process.env, ...files);
  return { lastLine: lines.at(-1), code };
}

async function runWith(env: NodeJS.ProcessEnv, ...files: string[]) {
  await Promise.all(
    files.map((text, i) => writeFile(join(directory, `${i}.test.ts`), text, 'utf8')),
  );
  return new Promise<{ lines: string[]; stderr: string; code: number }>((resolve) => {
    const args = [VITEST, 'run', '--root', directory];
    const child = execFile(process.execPath, args, { env }, (_error, stdout, stderr) => {
      resolve({ lines: stdout.trimEnd().split('\n'), stderr, code: child.exitCode ?? -1 });
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

describe('a program that is not there', () => {
  const program = {
    program: 'no-such-program',
    purpose: 'nothing',
    source: 'https://nowhere.example',
  };
  const absence =
    'no-such-program is not on this machine, so nothing was not tested; get it from https://nowhere.example';
  const file = (optional: typeof program) =>
    `import { describeWith } from ${JSON.stringify(OPTIONAL_PROGRAM)};
     describeWith(${JSON.stringify(optional)}, 'a', () => { test('b', () => {}); test('c', () => {}); });
     describeWith(${JSON.stringify(optional)}, 'd', () => { throw new Error('looked at'); });
     test('e', () => {});`;
  const { CI: _, ...env } = process.env;

  test('is told just before the closing line, once', async () => {
    const { lines, code } = await runWith(env, file(program));
    expect(lines.slice(-2)).toEqual([`NOT TESTED: ${absence}`, '1 passed, 0 failed, 2 skipped']);
    expect(lines.filter((line) => line.startsWith('NOT TESTED'))).toHaveLength(1);
    expect(code).toBe(0);
  });

  test('fails where the continuous integration runs', async () => {
    const { lines, stderr, code } = await runWith({ ...env, CI: 'true' }, file(program));
    expect(lines.at(-1)).toBe('1 passed, 2 failed');
    expect(stderr).toContain(absence);
    expect(code).toBe(1);
  });

  test('is not told where it is there', async () => {
    const there = `import { describeWith } from ${JSON.stringify(OPTIONAL_PROGRAM)};
      describeWith({ program: 'sh', purpose: '', source: '' }, 'a', () => { test('b', () => {}); });`;
    const { lines } = await runWith(env, there);
    expect(lines.at(-1)).toBe('1 passed, 0 failed');
    expect(lines.join('\n')).not.toContain('NOT TESTED');
  });
});
