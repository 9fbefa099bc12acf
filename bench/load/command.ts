/** `npm run load`: real sessions, setups and flows; keeps what came of a whole run at full size, and ends with 1 on a miss. */
import {
  OptionsError,
  parseCommandLine,
  runProgram,
  wholeNumber,
} from '../../origin/command-line.ts';
import { keepResults } from '../results.ts';
import { barLine, type Bar } from '../transceiver/bench.ts';
import { loadFlows } from './flows.ts';
import { loadSessions } from './sessions.ts';
import { loadSetups } from './setups.ts';

/** What a run must have at least for its figures to be kept. */
const FULL = { sessions: 200, minutes: 10, flows: 100_000 };

/** Packets a second over all flows, each way, and for how many seconds. */
const FLOW_RATE = 20_000;
const FLOW_SECONDS = 30;

/**
 * Milliseconds after which the relay forgets a silent flow: its usual time, within which each flow is all but sure
 * to get a packet.
 */
const FLOW_IDLE = 60_000;

/** Setups at a time, of which the fastest are measured at length; seconds of each, and at length. */
const SETUPS = { steps: [2, 4, 8, 16, 32], stepSeconds: 5, seconds: 30 } as const;

const PARTS = ['sessions', 'setups', 'flows'] as const;
type Part = (typeof PARTS)[number];

const HELP = `Puts the system under load, prints each bar beside what was reached, and ends with 1 when one is missed:
real sessions that speak for minutes through relays and transceivers of three regions; calls that are set up and
ended as fast as the machine takes them; and many flows at once through one relay.

  npm run load                    all of it, in about ${FULL.minutes + 7} minutes
  npm run load -- --only PART     sessions, setups or flows alone
  npm run load -- --sessions N    speak in so many, ${FULL.sessions} by default
  npm run load -- --minutes N     speak so long, ${FULL.minutes} by default
  npm run load -- --flows N       hold so many, ${FULL.flows} by default
  npm run load -- --help          print this

A whole run of no less than the defaults keeps its figures in bench/results/load.json.`;

interface LoadCommand {
  readonly sessions: number;
  readonly minutes: number;
  readonly flows: number;
  readonly only: Part | undefined;
}

// Inherited by every process that is measured, so that a heap can be told from its garbage.
process.env.NODE_OPTIONS = `${process.env.NODE_OPTIONS ?? ''} --expose-gc`;
await runProgram(HELP, readOptions, run);

function readOptions(args: readonly string[]): LoadCommand | undefined {
  const { values } = parseCommandLine({
    args: [...args],
    options: {
      sessions: { type: 'string', default: String(FULL.sessions) },
      minutes: { type: 'string', default: String(FULL.minutes) },
      flows: { type: 'string', default: String(FULL.flows) },
      only: { type: 'string' },
      help: { type: 'boolean', short: 'h' },
    },
  });
  if (values.help) return undefined;
  const only = PARTS.find((part) => part === values.only);
  if (values.only !== undefined && !only) {
    throw new OptionsError(`--only ${values.only} is none of ${PARTS.join(', ')}.`);
  }
  return {
    sessions: wholeNumber('sessions', values.sessions, 1),
    minutes: wholeNumber('minutes', values.minutes, 1),
    flows: wholeNumber('flows', values.flows, 1),
    only,
  };
}

async function run({ sessions, minutes, flows, only }: LoadCommand): Promise<void> {
  const log = console.log;
  const parts: Record<Part, () => Promise<{ figures: object; bars: readonly Bar[] }>> = {
    sessions: () => loadSessions({ sessions, minutes, log }),
    setups: () => loadSetups({ ...SETUPS, log }),
    flows: () => loadFlows({ flows, rate: FLOW_RATE, seconds: FLOW_SECONDS, idle: FLOW_IDLE, log }),
  };
  const measured: Partial<Record<Part, object>> = {};
  const bars: Bar[] = [];
  for (const part of PARTS.filter((name) => only === undefined || name === only)) {
    log(`${part}:`);
    const result = await parts[part]();
    measured[part] = result;
    bars.push(...result.bars);
    log(JSON.stringify(result.figures));
    for (const bar of result.bars) log(barLine(bar));
  }
  const isFull =
    only === undefined &&
    sessions >= FULL.sessions &&
    minutes >= FULL.minutes &&
    flows >= FULL.flows;
  if (isFull) await keepResults('load', measured);
  if (!bars.every(({ met }) => met)) process.exitCode = 1;
}
