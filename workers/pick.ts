/** Which transceiver of a cluster a session goes to. */
import type { RosterEntry } from '../protocol/roster.ts';

/** Whether it takes another session, as far as its last report says. */
export function hasRoom({ draining, sessions, capacity }: RosterEntry): boolean {
  return !draining && sessions < capacity;
}

/**
 * Why none of a cluster's transceivers is picked, in words for people.
 *
 * @param entries Those of its roster, none of which has room; undefined when it cannot be read.
 */
export function whyNone(entries: readonly RosterEntry[] | undefined): string {
  if (!entries) return 'its roster cannot be read now';
  if (entries.length === 0) return 'no transceiver of it answers now';
  if (entries.every(({ draining }) => draining)) return 'all its transceivers are draining';
  return 'it has no room now';
}

/**
 * One at random, each as likely as its share of the room there is. Taking the one with the most room
 * would send all calls of a second to a single transceiver, for the list is that old.
 *
 * @param random From 0 up to 1, as Math.random.
 */
export function pickTransceiver(
  entries: readonly RosterEntry[],
  random: () => number = Math.random,
): RosterEntry | undefined {
  const open = entries.filter(hasRoom);
  let lot = random() * open.reduce((sum, entry) => sum + room(entry), 0);
  // A lot that rounding left over falls to the last one.
  return open.find((entry) => (lot -= room(entry)) < 0) ?? open.at(-1);
}

/** Sessions for each that a cluster can hold, from 0 to 1; infinite when it takes none. */
export function clusterLoad(entries: readonly RosterEntry[]): number {
  const open = entries.filter(hasRoom);
  const taken = open.reduce((sum, { sessions }) => sum + sessions, 0);
  return open.length === 0
    ? Infinity
    : taken / open.reduce((sum, { capacity }) => sum + capacity, 0);
}

function room({ sessions, capacity }: RosterEntry): number {
  return capacity - sessions;
}
