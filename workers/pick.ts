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
 * The less loaded of two taken at random. Always taking the least loaded one of a list that is a
 * second old would send a second's calls to a single transceiver.
 *
 * @param random From 0 up to 1, as Math.random.
 */
export function pickTransceiver(
  entries: readonly RosterEntry[],
  random: () => number = Math.random,
): RosterEntry | undefined {
  const open = entries.filter(hasRoom);
  if (open.length < 2) return open[0];
  const first = Math.floor(random() * open.length);
  const second = (first + 1 + Math.floor(random() * (open.length - 1))) % open.length;
  const [a, b] = [open[first]!, open[second]!];
  return load(b) < load(a) ? b : a;
}

function load({ sessions, capacity }: RosterEntry): number {
  return sessions / capacity;
}
