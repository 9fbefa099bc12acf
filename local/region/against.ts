/** The footprint that working files are compared with: that of a git revision, or of another folder. */
import { execFile } from 'node:child_process';
import { stat } from 'node:fs/promises';
import { promisify } from 'node:util';
import { isOfFootprint, parseFootprint, readFootprint } from '../../origin/footprint-files.ts';
import { FootprintError, type Footprint } from '../../protocol/footprint.ts';
import { RegionError } from './new-region.ts';

const run = promisify(execFile);

/**
 * @param directory Of the working files; the revision is that of its repository.
 * @param against A folder, or a revision of git.
 * @throws RegionError when it is neither, has no region file, or has files that do not fit.
 */
export async function footprintOf(directory: string, against: string): Promise<Footprint> {
  try {
    return await readFrom(directory, against);
  } catch (error) {
    if (!(error instanceof FootprintError)) throw error;
    throw new RegionError(`In ${against}: ${error.message}`, { cause: error });
  }
}

async function readFrom(directory: string, against: string): Promise<Footprint> {
  if (await isFolder(against)) return readFootprint(against);
  const texts: Record<string, string> = {};
  for (const file of await filesAt(directory, against)) {
    if (isOfFootprint(file)) texts[file] = await git(directory, ['show', `${against}:./${file}`]);
  }
  if (!Object.keys(texts).some((file) => file.endsWith('.yaml'))) {
    throw new RegionError(`${against} has no region file to compare with.`);
  }
  return parseFootprint(texts);
}

async function filesAt(directory: string, revision: string): Promise<string[]> {
  try {
    // What begins like an option is none.
    const listed = await git(directory, [
      'ls-tree',
      '--name-only',
      '-z',
      '--end-of-options',
      revision,
      './',
    ]);
    return listed.split('\0').filter((file) => file !== '');
  } catch {
    throw new RegionError(
      `${revision} is neither a folder nor a revision of git that has ${directory}.`,
    );
  }
}

async function git(directory: string, args: readonly string[]): Promise<string> {
  const { stdout } = await run('git', ['-C', directory, ...args]);
  return stdout;
}

async function isFolder(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch {
    return false;
  }
}
