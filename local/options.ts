/** The command line of `npm start`. */
import { isIP } from 'node:net';
import { OptionsError, parseCommandLine } from '../origin/command-line.ts';

/** How much of the regions' logs is shown. */
const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export interface StartOptions {
  readonly check: boolean;
  readonly help: boolean;
  /** TCP port of the edge. */
  readonly port?: number;
  /** Where relays listen to clients; loopback without it. */
  readonly media?: string;
  /** Least level of the JSON logs that are printed; none are without it. */
  readonly logs?: LogLevel;
}

/** @param regions Their names, as the region files have them. */
export function helpText(regions: readonly string[]): string {
  const count = `${regions.length} ${regions.length === 1 ? 'region' : 'regions'}`;
  const list = regions.length > 0 ? ` (${regions.join(', ')})` : '';
  return `Runs the whole system on this machine: the edge in workerd and ${count}${list}.

  npm start                      start everything and print the URL to open; Ctrl-C ends it
  npm start -- --check           start everything, call each active region, print the timings, end
  npm start -- --port PORT       use this TCP port for the edge; without it 8787, or another if taken
  npm start -- --media ADDRESS   let relays listen on this address of the machine instead of 127.0.0.1, to
                                 which Firefox sends no media
  npm start -- --logs LEVEL      print the regions' logs as JSON on standard error, from this level on:
                                 ${LOG_LEVELS.join(', ')};
                                 with info or debug, the edge's lines of requests as well
  npm start -- --help            print this

The routing keys are made anew unless ROUTING_KEYS has some, with which npm run ops -- trace opens calls.
Without --logs, each call has a line here when it starts and when it ends, and warnings go to standard
error. Nothing is written to files; to keep the logs: npm start -- --logs info 2> region-logs.jsonl`;
}

/** @throws OptionsError */
export function parseOptions(args: readonly string[]): StartOptions {
  const { check = false, help = false, port, media, logs } = parse(args);
  return {
    check,
    help,
    ...(port !== undefined && { port: portOf(port) }),
    ...(media !== undefined && { media: addressOf(media) }),
    ...(logs !== undefined && { logs: levelOf(logs) }),
  };
}

function parse(args: readonly string[]) {
  return parseCommandLine({
    args: [...args],
    options: {
      check: { type: 'boolean' },
      help: { type: 'boolean', short: 'h' },
      port: { type: 'string' },
      media: { type: 'string' },
      logs: { type: 'string' },
    },
    allowPositionals: false,
  }).values;
}

function portOf(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (port < 1 || port > 65_535) throw new OptionsError(`--port ${text} is not 1 to 65535.`);
  return port;
}

function addressOf(text: string): string {
  if (isIP(text) === 0) throw new OptionsError(`--media ${text} is no IP address, as 192.168.1.5.`);
  return text;
}

function levelOf(text: string): LogLevel {
  const level = LOG_LEVELS.find((it) => it === text);
  if (!level) throw new OptionsError(`--logs ${text} is none of ${LOG_LEVELS.join(', ')}.`);
  return level;
}
