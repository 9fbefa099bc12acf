/** `npm run drills` itself: what it prints, how it ends, and that nothing stays behind. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { Drill } from './drills/drill.ts';
import { runDrill } from './drills/run.ts';
import { descendants, isAlive } from './support/processes.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** Milliseconds until what is awaited counts as never coming. */
const PATIENCE = 90_000;

/** One of the shorter drills. */
const SHORT = 'ice-restart';

function drills(...args: readonly string[]) {
  // A group of its own stands for the terminal's foreground.
  const child = spawn('npm', ['run', '--silent', 'drills', '--', ...args], {
    cwd: ROOT,
    detached: true,
  });
  onTestFinished(() => {
    if (child.exitCode === null && child.signalCode === null) process.kill(-child.pid!, 'SIGKILL');
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (text: Buffer) => (output += text.toString()));
  }
  const ended = once(child, 'close').then(([code]) => code as unknown);
  return { pid: child.pid!, ended, output: () => output };
}

test('one drill by its name: a line for it, and a table', async () => {
  const run = drills(SHORT);
  expect([await run.ended, run.output()]).toEqual([
    0,
    expect.stringContaining('1 of 1 drills held.'),
  ]);
  expect(run.output()).toMatch(new RegExp(`^ok   ${SHORT} \\(\\d+ s\\)$`, 'm'));
  expect(run.output()).toMatch(
    new RegExp(`^${SHORT} +ok +8 +0 +\\d+ +\\d+ +\\d+  Clients restart`, 'm'),
  );
});

test('Ctrl-C in its midst ends all of it, and it has not held', async () => {
  const run = drills('--verbose', SHORT);
  await vi.waitFor(() => expect(run.output()).toContain('are ready'), { timeout: PATIENCE });
  const family = await descendants(run.pid);
  expect(family.length).toBeGreaterThan(8);
  process.kill(-run.pid, 'SIGINT');
  expect(await run.ended).toBe(1);
  expect(run.output()).toContain(`FAIL ${SHORT}`);
  expect(run.output()).toContain('0 of 1 drills held.');
  await vi.waitFor(() => expect(family.filter(isAlive)).toEqual([]), { timeout: PATIENCE });
});

test('its help lists every drill, and a name that is none is told', async () => {
  const help = drills('--help');
  expect(await help.ended).toBe(0);
  expect(help.output()).toContain(`  ${SHORT}\n      Clients restart ICE mid-call`);
  const unknown = drills('nothing');
  expect(await unknown.ended).toBe(2);
  expect(unknown.output()).toBe('There is no drill nothing. See --help.\n');
});

const FIGURES = { calls: 1, lost: 0 };

test.each([
  ['what must hold and does not', ['it is not so'], () => Promise.resolve(FIGURES)],
  ['a throw', ['it is not so', 'it broke off: no'], () => Promise.reject(new Error('no'))],
])('%s fails a drill, and ends its props', async (_what, misses, end) => {
  let isEnded = false;
  const drill: Drill = {
    name: 'made-up',
    holds: 'Nothing.',
    run: (stage) => {
      stage.use({
        [Symbol.asyncDispose]: () => {
          isEnded = true;
          return Promise.resolve();
        },
      });
      stage.must(true, 'it is so');
      stage.must(false, 'it is not so');
      return end();
    },
  };
  const result = await runDrill(drill, new AbortController().signal, () => undefined);
  expect(result.misses).toEqual(misses);
  expect(isEnded).toBe(true);
});
