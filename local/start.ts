/** `npm start`: the whole system on this machine, until Ctrl-C; with `--check`, one call per region. */
import process from 'node:process';
import { EXIT_USAGE, OptionsError } from '../origin/command-line.ts';
import { reasonsOf } from '../origin/reasons.ts';
import { describeLog } from './call-log.ts';
import { helpText, parseOptions, type StartOptions } from './options.ts';
import type { Stack } from './stack.ts';

/** After Ctrl-C. Shells expect 128 and the signal's number, but it is the normal end of a run. */
const EXIT_ENDED = 0;

async function main(): Promise<number> {
  const options = await readOptions();
  if (options === undefined) return EXIT_USAGE;
  if (options.help) {
    console.log(await help());
    return 0;
  }
  console.log('Starting…');
  const interruption = untilInterrupted();
  const stack = await start(options, interruption);
  if (stack === undefined) return EXIT_ENDED;
  try {
    return await use(stack, options, interruption);
  } finally {
    await stack.close();
  }
}

/** Undefined when it was interrupted; nothing runs any more then. */
async function start(options: StartOptions, interruption: AbortSignal): Promise<Stack | undefined> {
  // Loaded late, for it takes a while: there is a word before it.
  const { startStack } = await import('./stack.ts');
  try {
    return await startStack({
      ports: options.check ? 'free' : 'usual',
      edgePort: options.port,
      relayAddress: options.media,
      // The check compares what comes back with what it says, so it wants all of it, and at once.
      backend: options.check ? 'echo' : 'parrot',
      routingKeys: process.env.ROUTING_KEYS || undefined,
      control: !options.check,
      logLevel: options.logs ?? (options.check ? 'warn' : 'info'),
      logRequests: options.logs === 'info' || options.logs === 'debug',
      signal: interruption,
      onReady: say,
      onTrouble: warn,
      onLog: options.logs ? warn : showLog,
    });
  } catch (error) {
    if (interruption.aborted) return undefined;
    throw error;
  }
}

function showLog(line: string): void {
  const entry = describeLog(line);
  if (entry?.kind === 'call') say(entry.text);
  else if (entry) warn(entry.text);
}

function say(line: string): void {
  console.log(line);
}

function warn(line: string): void {
  console.error(line);
}

async function use(
  stack: Stack,
  options: StartOptions,
  interruption: AbortSignal,
): Promise<number> {
  const interrupted = new Promise<undefined>((resolve) => {
    if (interruption.aborted) resolve(undefined);
    interruption.addEventListener('abort', () => resolve(undefined));
  });
  if (options.check) {
    const { checkStack } = await import('./check.ts');
    const passed = await Promise.race([checkStack(stack, say), interrupted]);
    return passed ? 0 : 1;
  }
  console.log(`\nOpen ${stack.edge} and press Talk. Ctrl-C ends everything.`);
  await interrupted;
  return EXIT_ENDED;
}

async function readOptions(): Promise<StartOptions | undefined> {
  try {
    return parseOptions(process.argv.slice(2));
  } catch (error) {
    if (!(error instanceof OptionsError)) throw error;
    console.error(`${error.message}\n\n${await help()}`);
    return undefined;
  }
}

async function help(): Promise<string> {
  const { REGIONS_DIR } = await import('./stack.ts');
  const { readFootprint } = await import('../origin/footprint-files.ts');
  const footprint = await readFootprint(REGIONS_DIR);
  const names = Object.keys(footprint);
  return helpText(names.toSorted((a, b) => footprint[a]!.id - footprint[b]!.id));
}

/** Aborted at the first SIGINT or SIGTERM; later ones change nothing, the end is under way. */
function untilInterrupted(): AbortSignal {
  const controller = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => controller.abort());
  }
  return controller.signal;
}

try {
  // libwebrtc's threads would keep the process, and everything has been closed in order by now.
  process.exit(await main());
} catch (error) {
  console.error(reasonsOf(error));
  process.exit(1);
}
