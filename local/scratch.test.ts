import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { expect, onTestFinished, test } from 'vitest';
import { openScratch } from './scratch.ts';

async function folderOf(pid: number): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), `global-relay-${pid}-`));
  onTestFinished(() => rm(path, { recursive: true, force: true }));
  await writeFile(join(path, 'file'), 'content');
  return path;
}

test('a folder is there until it is removed', async () => {
  const scratch = await openScratch();
  await writeFile(join(scratch.path, 'file'), 'content');
  await scratch.remove();
  expect(existsSync(scratch.path)).toBe(false);
});

test('what a run that is gone left is removed; that of one that lives stays', async () => {
  const gone = spawn(process.execPath, ['-e', '0']);
  await once(gone, 'exit');
  const left = await folderOf(gone.pid!);
  const used = await folderOf(process.pid);
  const scratch = await openScratch();
  onTestFinished(() => scratch.remove());
  expect([existsSync(left), existsSync(used)]).toEqual([false, true]);
});
