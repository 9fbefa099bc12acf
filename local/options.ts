/** The command line of `npm start`. */
import { parseArgs } from 'node:util';

export interface StartOptions {
  readonly check: boolean;
  readonly help: boolean;
}

export const HELP = `Runs the whole system on this machine: the edge in workerd and three regions.

  npm start               start everything and print the URL to open; Ctrl-C ends it
  npm start -- --check    start everything, make one call per region, print its timings, end
  npm start -- --help     print this`;

/** A command line that does not fit; the message says what does. */
export class OptionsError extends Error {
  override readonly name = 'OptionsError';
}

/** @throws OptionsError */
export function parseOptions(args: readonly string[]): StartOptions {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: { check: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } },
      allowPositionals: false,
    });
    return { check: values.check ?? false, help: values.help ?? false };
  } catch (error) {
    const [reason] = error instanceof Error ? error.message.split('. ') : [String(error)];
    throw new OptionsError(`${reason}.\n\n${HELP}`, { cause: error });
  }
}
