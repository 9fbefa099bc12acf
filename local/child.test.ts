import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, test, vi } from 'vitest';
import { startChild, type ChildOptions } from './child.ts';
import type { TestService } from './testing/service.ts';

/** Starting a process takes seconds on a busy machine. */
vi.setConfig({ testTimeout: 60_000 });

function start(does = 'work', options: Pick<ChildOptions, 'signal' | 'onLine'> = {}) {
  return startChild<TestService>({
    ...options,
    name: 'service',
    module: new URL('testing/service.ts', import.meta.url),
    env: { SERVICE_DOES: does },
  });
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

test('starts a process, asks it, and ends it', async () => {
  const { child, ready } = await start();
  expect(ready.pid).toBe(child.pid);
  expect(isAlive(child.pid)).toBe(true);
  expect(await child.ask('double', 21)).toBe(42);
  const ended = vi.fn<(how: string) => void>();
  child.onEnd(ended);
  await child.close();
  expect(isAlive(child.pid)).toBe(false);
  expect(ended).toHaveBeenCalledWith('with exit code 0');
  await child.close();
});

test('passes on what a service refuses, and goes on', async () => {
  const { child } = await start();
  await expect(child.ask('fail')).rejects.toThrow('service cannot answer: it would not');
  expect(await child.ask('double', 1)).toBe(2);
  await child.close();
});

test('refuses what is still asked when the process ends', async () => {
  const { child } = await start();
  const answers = await Promise.allSettled([child.ask('never'), child.ask('vanish')]);
  const reason = new Error('service cannot answer: its process has ended with exit code 7');
  expect(answers).toEqual([
    { status: 'rejected', reason },
    { status: 'rejected', reason },
  ]);
  await expect(child.ask('double', 1)).rejects.toThrow('service cannot answer');
});

test('gives the reason of a service that cannot start', async () => {
  await expect(start('fail')).rejects.toThrow('service cannot start: the port is taken');
  await expect(start('die')).rejects.toThrow('its process ended with exit code 3');
});

test('ends a service that does not close', async () => {
  const { child } = await start('hang');
  await child.close();
  expect(isAlive(child.pid)).toBe(false);
});

test('gives the lines of its standard output, to the last one', async () => {
  const lines: string[] = [];
  const { child } = await start('work', { onLine: (line) => lines.push(line) });
  await child.ask('say', 'one\ntwo');
  await child.close();
  expect(lines).toEqual(['one', 'two']);
});

test('is killed with all that it started when its signal is aborted', async () => {
  const controller = new AbortController();
  const { child } = await start('hang', { signal: controller.signal });
  const grandchild = await child.ask('beget');
  expect(isAlive(grandchild)).toBe(true);
  controller.abort();
  await child.close();
  await vi.waitFor(() => expect([child.pid, grandchild].filter(isAlive)).toEqual([]), {
    timeout: 30_000,
  });
});

test('takes all that it started with it when it is killed from outside', async () => {
  const { child } = await start();
  const grandchild = await child.ask('beget');
  process.kill(child.pid, 'SIGKILL');
  await vi.waitFor(() => expect([child.pid, grandchild].filter(isAlive)).toEqual([]), {
    timeout: 30_000,
  });
});

test('is killed before it is ready when its signal is aborted', async () => {
  const controller = new AbortController();
  const starting = start('work', { signal: controller.signal });
  controller.abort();
  await expect(starting).rejects.toThrow('its process ended by SIGKILL');
  await expect(start('work', { signal: controller.signal })).rejects.toThrow('broken off');
});

test('a service ends with its parent, even when that is killed', async () => {
  const path = fileURLToPath(new URL('testing/parent.ts', import.meta.url));
  const parent = spawn(process.execPath, [path], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = await once(parent.stdout, 'data');
  const pid = Number(String(line));
  expect(isAlive(pid)).toBe(true);
  parent.kill('SIGKILL');
  await vi.waitFor(() => expect(isAlive(pid)).toBe(false), { timeout: 30_000 });
});
