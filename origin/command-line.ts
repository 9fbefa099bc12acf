/** Command lines of the programs that people start by hand. */
import { parseArgs, type ParseArgsConfig } from 'node:util';

/** Exit code of a wrong command line. */
export const EXIT_USAGE = 2;

/** A command line that does not fit; the message says why. */
export class OptionsError extends Error {
  override readonly name = 'OptionsError';
}

/** `parseArgs` of node:util, but what is wrong is told in one sentence. @throws OptionsError */
export function parseCommandLine<T extends ParseArgsConfig>(
  config: T,
): ReturnType<typeof parseArgs<T>> {
  try {
    return parseArgs(config);
  } catch (error) {
    const [reason] = error instanceof Error ? error.message.split('. ') : [String(error)];
    throw new OptionsError(`${reason}.`, { cause: error });
  }
}

/** The number after an option. @throws OptionsError unless it is a whole one, from `least` on. */
export function wholeNumber(option: string, text: string, least: number): number {
  const value = /^\d{1,15}$/.test(text) ? Number(text) : NaN;
  if (value >= least) return value;
  throw new OptionsError(`--${option} ${text} is no whole number from ${least} on.`);
}

/**
 * Reads the options and runs the program; prints its help instead when asked for. What does not fit is
 * told in one line, and ends the process with {@link EXIT_USAGE}.
 *
 * @param read Undefined when help is asked for. @throws OptionsError
 */
export async function runProgram<T>(
  help: string,
  read: (args: readonly string[]) => T | undefined,
  program: (options: T) => Promise<void> | void,
): Promise<void> {
  let options: T | undefined;
  try {
    options = read(process.argv.slice(2));
  } catch (error) {
    if (!(error instanceof OptionsError)) throw error;
    console.error(`${error.message} See --help.`);
    process.exitCode = EXIT_USAGE;
    return;
  }
  if (options === undefined) console.log(help);
  else await program(options);
}
