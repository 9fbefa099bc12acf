/** What `npm run ops` does. */
import { OptionsError } from '../../origin/command-line.ts';
import { FootprintError } from '../../protocol/footprint.ts';
import { decode } from './decode.ts';
import { drops } from './drops.ts';
import { EXIT, type ExitCode, type OpsCommand, type OpsContext } from './ops-command.ts';
import { probe } from './probe.ts';
import { trace } from './trace.ts';

const COMMANDS: Readonly<Record<string, OpsCommand>> = { probe, trace, decode, drops };

export const HELP = `Answers what operators ask of a deployment.

  npm run ops -- probe URL       does it work? Makes a call and times each stage; --json and exit codes for monitors
  npm run ops -- trace CALL      where is a call? Opens its id, and asks transceivers and relays for it
  npm run ops -- decode UFRAG    which transceiver does a ufrag lead to, or why do relays refuse it?
  npm run ops -- drops           why are packets dropped? Tails the counters of relays, and says what each means

Each tells more: npm run ops -- probe --help

Keys come from the environment or from files, never from the command line, which others on a machine can read.

Ends with 0 when all is well, with 1 when something is not as it should be, with 2 when it does not work, and
with 3 when nothing can be said, for the command line or a key is wrong.

When an alert fired, docs/runbooks.md says what to do; docs/operator.md goes by what you want to do.`;

/** @returns The exit code; what is wrong has been told by then. */
export async function runOps(args: readonly string[], context: OpsContext): Promise<ExitCode> {
  const [name = 'help', ...rest] = args;
  if (/^(help|--help|-h)$/.test(name)) {
    context.output.log(HELP);
    return EXIT.ok;
  }
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (command === undefined) {
    const known = Object.keys(COMMANDS).join(', ');
    context.output.error(`${name} is none of ${known}. See npm run ops -- help.`);
    return EXIT.unknown;
  }
  if (rest.includes('--help') || rest.includes('-h')) {
    context.output.log(command.help);
    return EXIT.ok;
  }
  try {
    return await command.run(rest, context);
  } catch (error) {
    if (!(error instanceof OptionsError || error instanceof FootprintError)) throw error;
    context.output.error(`${error.message} See npm run ops -- ${name} --help.`);
    return EXIT.unknown;
  }
}
