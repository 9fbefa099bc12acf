/** Finds the programs that tests need beside what npm installs. */
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Where Debian puts programs, wherever PATH points. */
const DEBIAN_PROGRAMS = '/usr/bin';

/** The path of a program, or undefined when there is none. */
export function findProgram(name: string): string | undefined {
  return [DEBIAN_PROGRAMS, ...(process.env.PATH ?? '').split(delimiter)]
    .map((directory) => join(directory, name))
    .find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
