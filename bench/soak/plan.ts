/** Which calls a soak makes, and how many of them must be taken. */

/** Seconds after which the same kinds of calls come again; a cap has long been free again by then. */
const CYCLE = 20;

/** Least calls of a cycle: those of all groups, and some that are free. */
export const LEAST_CALLS = 150;

/** Calls at a time of tenants that have a cap. */
export const CAP = 10;

/** Calls that a tenant with a rate limit may start in a minute: the least that the edge has. */
export const CALLS_PER_MINUTE = 60;

/** Groups of a cycle. Their tenants are asked for more than they may have. */
const GROUPS = [
  /** Calls that are held until the last of the group was answered, and ended then. */
  { kind: 'capped', calls: 2 * CAP, mayHave: CAP, every: 1 },
  /** The same, but nobody ends them: the transceivers do when no client comes. */
  { kind: 'left', calls: 2 * CAP, mayHave: CAP, every: 2 },
  { kind: 'limited', calls: CALLS_PER_MINUTE + 10, mayHave: CALLS_PER_MINUTE, every: 3 },
] as const;

export type Kind = (typeof GROUPS)[number]['kind'] | 'free';

/** Calls that follow one another and are judged together. */
export interface Group {
  readonly kind: Kind;
  /** Milliseconds from the start of the soak at which each one is asked for. */
  readonly at: readonly number[];
  /** How many must be taken. */
  readonly mayHave: number;
}

/**
 * Calls that come evenly; those that belong to no group are groups of one.
 *
 * @param rate Calls a second.
 */
export function planSoak(calls: number, rate: number): Group[] {
  const perCycle = Math.max(LEAST_CALLS, CYCLE * rate);
  const groups: Group[] = [];
  let planned = 0;
  for (let cycle = 0; planned < calls; cycle++) {
    const end = Math.min(calls, (cycle + 1) * perCycle);
    for (const { kind, calls: count, mayHave, every } of GROUPS) {
      if (cycle % every !== 0 || planned + count > end) continue;
      groups.push({ kind, at: timesOf(planned, count, rate), mayHave });
      planned += count;
    }
    for (; planned < end; planned++) {
      groups.push({ kind: 'free', at: timesOf(planned, 1, rate), mayHave: 1 });
    }
  }
  return groups;
}

function timesOf(first: number, count: number, rate: number): number[] {
  return Array.from({ length: count }, (_, i) => ((first + i) * 1000) / rate);
}
