/** A folder for what a run keeps on disk while it lasts. A killed run cannot remove its own; the next does. */
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';

/** Followed by the process id of the run. */
const PREFIX = 'global-relay-';

export interface Scratch {
  readonly path: string;
  remove(): Promise<void>;
}

/** Makes a fresh folder, and removes those of runs that are no more. */
export async function openScratch(): Promise<Scratch> {
  await removeLeftovers();
  const path = await mkdtemp(join(tmpdir(), `${PREFIX}${process.pid}-`));
  return { path, remove: () => removeFolder(path) };
}

async function removeLeftovers(): Promise<void> {
  const names = await readdir(tmpdir());
  const left = names.filter((name) => {
    const pid = new RegExp(`^${PREFIX}(\\d+)-`).exec(name)?.[1];
    return pid !== undefined && !isAlive(Number(pid));
  });
  await Promise.all(left.map((name) => removeFolder(join(tmpdir(), name))));
}

/** What cannot be removed is another user's, or still being written: neither stops a run. */
async function removeFolder(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true, maxRetries: 3 }).catch(() => undefined);
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // A process of another user may not be signalled, yet it lives.
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
