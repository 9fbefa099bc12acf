/** The command line of `npm run region`. */
import { parseArgs } from 'node:util';
import type { Wishes } from './new-region.ts';

export const HELP = `Looks after the region files, from which every table and the infrastructure are made.

  npm run region -- add NAME       write the file of a region of AWS, planned: with the next free id and
                                   network, its place, and the nearest active region to take over
  npm run region -- remove NAME    take away the file of a region that is drained, or was only planned
  npm run region -- check          check all files, and tell every fault with its file and field
  npm run region -- plan           say what an apply will change since the last commit
  npm run region -- list           the regions of the footprint; with --all those that could be added too
  npm run region -- record         add regions that were written by hand to the ledger of ids and networks

add takes instead of what it would choose:
  --id NUMBER --cidr 10.N.0.0/16 --azs ZONE,ZONE --failover NAME,NAME --latitude N --longitude N
plan takes --against, with a folder of region files or a revision of git.
All take --regions, with another folder of region files.

Ends with 0; with 1 when files or the change do not do; with 2 when the command line is wrong.

A region's life; plan and apply after each change of its state:
  1. add it, move the countries that are nearer to it, and see what it would bring: npm run simulate
  2. state: draining, which builds it without sending it a call
  3. store its tunnel's token, and wait for its transceivers on the edge's roster
  4. state: active
  5. at its end state: draining; once its last call has ended, remove it
docs/infrastructure.md tells each step.`;

/** A command line that does not fit; the message says why. */
export class RegionUsageError extends Error {
  override readonly name = 'RegionUsageError';
}

export type RegionOptions = { readonly regions?: string | undefined } & (
  | { readonly command: 'help' | 'check' | 'record' }
  | { readonly command: 'remove'; readonly name: string }
  | { readonly command: 'add'; readonly name: string; readonly wishes: Wishes }
  | { readonly command: 'plan'; readonly against: string }
  | { readonly command: 'list'; readonly all: boolean }
);

const TEXT = { type: 'string' } as const;
const OPTIONS = {
  regions: TEXT,
  help: { type: 'boolean', short: 'h' },
  id: TEXT,
  cidr: TEXT,
  azs: TEXT,
  failover: TEXT,
  latitude: TEXT,
  longitude: TEXT,
  against: TEXT,
  all: { type: 'boolean' },
} as const;

/** Options of each command beside `regions`. */
const TAKES: Readonly<Record<string, readonly (keyof typeof OPTIONS)[]>> = {
  add: ['id', 'cidr', 'azs', 'failover', 'latitude', 'longitude'],
  remove: [],
  check: [],
  plan: ['against'],
  list: ['all'],
  record: [],
  help: [],
};

/** @throws RegionUsageError */
export function parseRegionOptions(args: readonly string[]): RegionOptions {
  const { values, positionals } = parse(args);
  const [command = 'help', ...rest] = values.help ? ['help'] : positionals;
  const takes = Object.hasOwn(TAKES, command) ? TAKES[command] : undefined;
  if (takes === undefined) {
    throw new RegionUsageError(`${command} is none of ${Object.keys(TAKES).join(', ')}.`);
  }
  const anywhere = new Set<string>(['regions', 'help', ...takes]);
  const strange = Object.keys(values).find((option) => !anywhere.has(option));
  if (strange !== undefined) throw new RegionUsageError(`${command} takes no --${strange}.`);
  const names = command === 'add' || command === 'remove' ? 1 : 0;
  if (rest.length > names) throw new RegionUsageError(`${command} takes no "${rest[names]}".`);
  const { regions } = values;
  switch (command) {
    case 'add':
      return { command, regions, name: nameOf(command, rest), wishes: wishesOf(values) };
    case 'remove':
      return { command, regions, name: nameOf(command, rest) };
    case 'plan':
      return { command, regions, against: values.against ?? 'HEAD' };
    case 'list':
      return { command, regions, all: values.all ?? false };
    case 'check':
    case 'record':
      return { command, regions };
    default:
      return { command: 'help' };
  }
}

function nameOf(command: string, [name]: readonly string[]): string {
  if (name === undefined)
    throw new RegionUsageError(`Give the region to ${command}, as eu-west-1.`);
  return name;
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true });
  } catch (error) {
    const [reason] = error instanceof Error ? error.message.split('. ') : [String(error)];
    throw new RegionUsageError(`${reason}.`, { cause: error });
  }
}

function wishesOf(values: ReturnType<typeof parse>['values']): Wishes {
  const { id, cidr, azs, failover, latitude, longitude } = values;
  return {
    id: id === undefined ? undefined : numberOf('id', id),
    cidr,
    azs: azs === undefined ? undefined : azs.split(','),
    failover: failover === undefined ? undefined : failover.split(',').filter((it) => it !== ''),
    latitude: latitude === undefined ? undefined : numberOf('latitude', latitude),
    longitude: longitude === undefined ? undefined : numberOf('longitude', longitude),
  };
}

function numberOf(option: string, text: string): number {
  if (/^-?\d+(\.\d+)?$/.test(text)) return Number(text);
  throw new RegionUsageError(`--${option} ${text} is not a number.`);
}
