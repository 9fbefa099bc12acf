/**
 * Makes calls at an even rate through a whole local system, some by tenants that ask for more than they may have:
 * none may be lost, limits must hold to the call, and in the end nothing may be left anywhere.
 */
import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { placeOfRegion, type Place } from '../../local/place.ts';
import { startStack } from '../../local/stack.ts';
import { placeCall, type Answer } from './caller.ts';
import { untilNothingIsLeft } from './left.ts';
import { planSoak, type Group, type Kind } from './plan.ts';
import { KINDS, makeTenants, sha256 } from './tenants.ts';

/** Milliseconds of a minute, in which limits begin anew, and of that by which a soak must have begun. */
const MINUTE = 60_000;
const LATEST_START = 40_000;

/** Milliseconds that free calls are held at most; clients without media are given up after 15 s. */
const LONGEST_HOLD = 8_000;

/** Beside those of the regions. */
const PLACES: readonly Place[] = [
  { colo: 'CDG', latitude: '48.86', longitude: '2.35', country: 'FR', continent: 'EU' },
  { colo: 'GRU', latitude: '-23.55', longitude: '-46.63', country: 'BR', continent: 'SA' },
  { colo: 'SYD', latitude: '-33.87', longitude: '151.21', country: 'AU', continent: 'OC' },
];

const NONE = { free: 0, capped: 0, left: 0, limited: 0 };

export interface SoakOptions {
  readonly calls: number;
  /** Calls a second. */
  readonly rate: number;
  readonly log: (line: string) => void;
}

export interface SoakResult {
  /** By kind of call. */
  readonly taken: Readonly<Record<Kind, number>>;
  readonly refused: Readonly<Record<Kind, number>>;
  /** Milliseconds from offer to answer. */
  readonly setup: { readonly p50: number; readonly p99: number; readonly max: number };
  /** Seconds from the first offer to the last answer, and until nothing was left after that. */
  readonly seconds: number;
  readonly settled: number;
  /** What was not as it must be, in words; none when all is well. */
  readonly misses: readonly string[];
}

/** @throws Error when the system cannot start. */
export async function soak({ calls, rate, log }: SoakOptions): Promise<SoakResult> {
  const adminKey = randomBytes(32).toString('base64url');
  const { tenants, keys } = makeTenants();
  const misses: string[] = [];
  await using stack = await startSoakStack({
    tenants,
    adminKeyHash: sha256(adminKey),
    onTrouble: (line) => misses.push(line),
  });
  const places = [...Object.values(stack.footprint).map(placeOfRegion), ...PLACES];
  const taken = { ...NONE };
  const refused = { ...NONE };
  const took: number[] = [];
  let asked = 0;

  const hearing = async (kind: Kind): Promise<Answer> => {
    const turn = asked++;
    const place = places[turn % places.length]!;
    const answer = await placeCall({ edge: stack.edge, key: keys[kind], place, turn });
    if (answer.outcome === 'taken') {
      taken[kind]++;
      took.push(answer.took);
    } else if (answer.outcome === 'refused') refused[kind]++;
    else misses.push(answer.why);
    return answer;
  };

  await untilLimitsAreNew(log);
  const start = performance.now();
  const until = (at: number) => delay(Math.max(0, start + at - performance.now()));
  const running = planSoak(calls, rate).map(async (group) => {
    const begun = { minute: 0 };
    const answers = await Promise.all(
      group.at.map(async (at, i) => {
        await until(at);
        if (i === 0) begun.minute = minuteNow();
        return hearing(group.kind);
      }),
    );
    misses.push(...judge(group, answers, begun.minute === minuteNow()));
    if (group.kind === 'left') return;
    if (group.kind === 'free') await delay(Math.random() * LONGEST_HOLD);
    const ends = answers.flatMap((answer) => (answer.outcome === 'taken' ? [answer.end()] : []));
    for (const miss of await Promise.all(ends)) if (miss !== undefined) misses.push(miss);
  });
  const progress = setInterval(() => log(`${asked} of ${calls} calls asked for`), 10_000);
  await Promise.all(running).finally(() => clearInterval(progress));
  const seconds = (performance.now() - start) / 1000;
  misses.push(...(await untilNothingIsLeft(stack, { adminKey, tenants: KINDS, log })));
  const settled = (performance.now() - start) / 1000 - seconds;
  const sorted = took.toSorted((a, b) => a - b);
  const percentile = (part: number) => sorted[Math.floor((sorted.length - 1) * part)] ?? 0;
  const setup = { p50: percentile(0.5), p99: percentile(0.99), max: percentile(1) };
  return { taken, refused, setup, seconds, settled, misses };
}

async function startSoakStack(options: Parameters<typeof startStack>[0]) {
  const stack = await startStack(options);
  return { ...stack, [Symbol.asyncDispose]: () => stack.close() };
}

/** A minute that ends between a group's calls would let more of them in, and rightly so. */
async function untilLimitsAreNew(log: (line: string) => void): Promise<void> {
  const passed = Date.now() % MINUTE;
  if (passed <= LATEST_START) return;
  log('waiting for the next minute, in which limits begin anew');
  await delay(MINUTE - passed);
}

function minuteNow(): number {
  return Math.floor(Date.now() / MINUTE);
}

function judge({ kind, mayHave }: Group, answers: readonly Answer[], inOneMinute: boolean) {
  const taken = answers.filter(({ outcome }) => outcome === 'taken').length;
  // On a starved machine a group may outlast its minute.
  const isGood = kind === 'limited' && !inOneMinute ? taken >= mayHave : taken === mayHave;
  return isGood ? [] : [`of ${answers.length} ${kind} calls ${taken} were taken, not ${mayHave}`];
}
