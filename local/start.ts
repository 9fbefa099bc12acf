/** `npm start`: the whole system on this machine, until Ctrl-C; with `--check`, one call per region. */
import process from 'node:process';
import { reasonsOf } from '../origin/reasons.ts';
import { checkStack } from './check.ts';
import { HELP, OptionsError, parseOptions, type StartOptions } from './options.ts';
import { startStack, type Stack } from './stack.ts';

/** Exit code of a wrong command line. */
const EXIT_USAGE = 2;

/** After Ctrl-C. Shells expect 128 and the signal's number, but it is the normal end of a run. */
const EXIT_ENDED = 0;

async function main(): Promise<number> {
  const options = readOptions();
  if (options === undefined) return EXIT_USAGE;
  if (options.help) {
    console.log(HELP);
    return 0;
  }
  const interrupted = untilInterrupted();
  const starting = startStack({
    ports: options.check ? 'free' : 'usual',
    onReady: (line) => console.log(line),
    onTrouble: (line) => console.error(line),
  });
  const stack = await Promise.race([starting, interrupted]);
  // Services that are still on their way end by themselves once this process is gone.
  if (stack === undefined) return EXIT_ENDED;
  try {
    return await use(stack, options, interrupted);
  } finally {
    await stack.close();
  }
}

async function use(
  stack: Stack,
  options: StartOptions,
  interrupted: Promise<undefined>,
): Promise<number> {
  if (options.check) {
    const passed = await Promise.race([
      checkStack(stack, (line) => console.log(line)),
      interrupted,
    ]);
    return passed ? 0 : 1;
  }
  console.log(`\nOpen ${stack.edge} and press Talk. Ctrl-C ends everything.`);
  await interrupted;
  return EXIT_ENDED;
}

function readOptions(): StartOptions | undefined {
  try {
    return parseOptions(process.argv.slice(2));
  } catch (error) {
    if (!(error instanceof OptionsError)) throw error;
    console.error(error.message);
    return undefined;
  }
}

/** Settles at the first SIGINT or SIGTERM; later ones change nothing, the end is under way. */
function untilInterrupted(): Promise<undefined> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      process.on(signal, () => resolve(undefined));
    }
  });
}

try {
  // libwebrtc's threads would keep the process, and everything has been closed in order by now.
  process.exit(await main());
} catch (error) {
  console.error(reasonsOf(error));
  process.exit(1);
}
