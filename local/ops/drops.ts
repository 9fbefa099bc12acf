/** `npm run ops -- drops` */
import { setTimeout as delay } from 'node:timers/promises';
import { OptionsError, parseCommandLine } from '../../origin/command-line.ts';
import { NO_DROPS, type DropReason } from '../../origin/relay/drops.ts';
import { ask, baseUrls, RelayDumpSchema, type RelayDump } from './admin-client.ts';
import { DROP_MEANINGS } from './drop-reasons.ts';
import { EXIT, type ExitCode, type OpsCommand, type OpsContext } from './ops-command.ts';

/** Where a relay's admin server is unless told otherwise. */
const DEFAULT_RELAY = 'http://127.0.0.1:9478';

/** Seconds between two looks unless told otherwise. */
const DEFAULT_EVERY = '2';

/** Counters alone are asked for, and no flow. */
const COUNTERS = '/dump?flows=0';

const HELP = `Tails why relays drop packets: how many, how fast, what it means and what to do.

  npm run ops -- drops                    what the relay at ${DEFAULT_RELAY} drops, until Ctrl-C
  npm run ops -- drops --relay URL        that of another relay's admin server; may stand several times
  npm run ops -- drops --every SECONDS    look that often; ${DEFAULT_EVERY} unless given
  npm run ops -- drops --once             say what was dropped since each relay started, and end
  npm run ops -- drops --json             one line of JSON for each relay and look

Admin servers are kept off the public: run this where they can be reached, or forward their ports, as
  aws ssm start-session --target INSTANCE --document-name AWS-StartPortForwardingSession --parameters portNumber=9478
  kubectl port-forward pod/relay-x7k2p 9478
While npm start runs, its regions' are at 9478, 9488 and 9498, unless it named others.

A few drops are noise of the Internet: scanners, late packets, clients that came back. docs/relay.md has all reasons.

Ends with 0, with 1 when one of several relays could not be asked, with 2 when none could, and with 3 when the
command line is wrong.`;

export const drops: OpsCommand = {
  help: HELP,
  async run(args, context) {
    const { values } = parseCommandLine({
      args: [...args],
      options: {
        relay: { type: 'string', multiple: true, default: [DEFAULT_RELAY] },
        every: { type: 'string', default: DEFAULT_EVERY },
        once: { type: 'boolean', default: false },
        json: { type: 'boolean', default: false },
      },
      allowPositionals: false,
    });
    const every = Number(values.every) * 1000;
    if (!(every >= 100))
      throw new OptionsError(`--every ${values.every} is no number from 0.1 on.`);
    const print = values.json ? printJson : wordPrinter();
    const tails = baseUrls('--relay', values.relay).map((url) => new DropTail(url));
    const look = async () => {
      const looks = await Promise.all(tails.map((tail) => tail.look()));
      for (const one of looks) print(one, context);
      return looks.filter(({ why }) => why !== undefined).length;
    };
    let unreached = await look();
    while (!values.once && (await passes(every, context.signal))) unreached = await look();
    return exitCodeOf(unreached, tails.length);
  },
};

/** What one look at a relay showed. Plain JSON. */
export interface DropLook {
  readonly relay: string;
  /** ISO 8601. */
  readonly at: string;
  /** Seconds since the look before; undefined at the first, and after the relay was started anew. */
  readonly seconds?: number | undefined;
  /** Packets from clients: since the look before, and since the relay started. */
  readonly packets?: Counted;
  /** Reasons that any packet was dropped for. */
  readonly drops?: Readonly<Record<string, Counted>>;
  /** Why the relay could not be asked. */
  readonly why?: string;
}

interface Counted {
  readonly total: number;
  readonly more: number;
}

/** Looks at one relay again and again. */
export class DropTail {
  readonly #url: string;
  #before: { readonly at: number; readonly counters: RelayDump['counters'] } | undefined;

  constructor(url: string) {
    this.#url = url;
  }

  async look(): Promise<DropLook> {
    const dump = await ask(this.#url + COUNTERS, RelayDumpSchema);
    const now = performance.now();
    const head = { relay: this.#url, at: new Date().toISOString() };
    if (!dump.ok) return { ...head, why: dump.why };
    const { counters } = dump.value;
    const before = this.#before;
    this.#before = { at: now, counters };
    // Counters only grow, unless their process is another.
    const isSame = before && counters.fromClients.packets >= before.counters.fromClients.packets;
    const counted = (read: (from: RelayDump['counters']) => number): Counted => {
      const total = read(counters);
      return { total, more: total - (isSame ? read(before.counters) : 0) };
    };
    const reasons = Object.keys(counters.drops).filter((reason) => counters.drops[reason]! > 0);
    const counts = reasons.map((reason) => [reason, counted((from) => from.drops[reason] ?? 0)]);
    return {
      ...head,
      seconds: isSame ? (now - before.at) / 1000 : undefined,
      packets: counted((from) => from.fromClients.packets),
      drops: Object.fromEntries(counts),
    };
  }
}

function printJson(look: DropLook, { output }: OpsContext): void {
  output.log(JSON.stringify(look));
}

/** Explains each reason the first time it is seen. */
function wordPrinter() {
  const explained = new Set<string>();
  return (look: DropLook, { output }: OpsContext): void => {
    const { relay, at, seconds, packets, drops: counts, why } = look;
    const head = `${at.slice(11, 19)}  ${relay}`;
    if (!counts || !packets) {
      output.error(`${head}  cannot be asked: ${why}`);
      return;
    }
    const grown = Object.entries(counts).filter(([, { more }]) => more > 0);
    const rate = ({ more, total }: Counted) =>
      seconds === undefined
        ? `${total} since it started`
        : `${(more / seconds).toFixed(1)}/s, ${total} in all`;
    if (grown.length === 0) output.log(`${head}  no drops; from clients ${rate(packets)}`);
    for (const [reason, counted] of grown) {
      output.log(`${head}  ${reason}  ${rate(counted)}`);
      if (explained.has(reason) || !isReason(reason)) continue;
      explained.add(reason);
      const { means, todo } = DROP_MEANINGS[reason];
      output.log(`          ${means}. Do: ${todo}.`);
    }
  };
}

function isReason(text: string): text is DropReason {
  return Object.hasOwn(NO_DROPS, text);
}

/** False once it is to end. */
function passes(ms: number, signal: AbortSignal): Promise<boolean> {
  return delay(ms, true, { signal }).catch(() => false);
}

function exitCodeOf(unreached: number, relays: number): ExitCode {
  if (unreached === 0) return EXIT.ok;
  return unreached < relays ? EXIT.degraded : EXIT.down;
}
