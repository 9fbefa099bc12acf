import { describe, expect, it, vi } from 'vitest';
import type { SteeringCluster } from '../protocol/footprint.ts';
import type { RosterEntry } from '../protocol/roster.ts';
import { candidates } from './candidates.ts';
import { Suspects } from './suspects.ts';
import { testTable } from './testing/steering-table.ts';

const { clusters } = testTable();

function roster(...ids: number[]): RosterEntry[] {
  return ids.map((transceiver) => entryOf(transceiver, 0));
}

function busy(sessions: number): RosterEntry[] {
  return [entryOf(1, sessions)];
}

function entryOf(transceiver: number, sessions: number): RosterEntry {
  return { transceiver, sessions, capacity: 10, draining: false, seenAt: 0 };
}

/** The cluster that is tried first. */
async function firstOf(
  rosters: Record<number, RosterEntry[]>,
  peers = 3,
  lots: readonly number[] = [0, 0],
  suspects = new Suspects(),
): Promise<number | undefined> {
  const left = [...lots];
  const read = async ({ cluster }: SteeringCluster) => rosters[cluster]!;
  const choices = candidates(
    { clusters, peers },
    read,
    suspects,
    () => false,
    () => left.shift()!,
  );
  return (await choices.next()).value?.cluster.cluster;
}

async function route(
  rosters: Record<number, RosterEntry[]>,
  suspects = new Suspects(),
  outcome: 'busy' | 'timeout' = 'busy',
): Promise<[number, number][]> {
  const order: [number, number][] = [];
  const read = async ({ cluster }: SteeringCluster) =>
    rosters[cluster] ?? Promise.reject(new Error('away'));
  for await (const { cluster, transceiver } of candidates({ clusters, peers: 1 }, read, suspects)) {
    order.push([cluster.cluster, transceiver]);
    suspects.note(cluster.cluster, outcome);
  }
  return order;
}

describe('candidates', () => {
  it('offers two transceivers of a cluster, each once, and then those of the next', async () => {
    const order = await route({ 1: roster(1, 2, 3), 2: roster(1), 3: roster(7, 8) });
    expect(order.map(([cluster]) => cluster)).toEqual([1, 1, 2, 3, 3]);
    expect(new Set(order.map(String)).size).toBe(5);
  });

  it('offers no second transceiver of a cluster that failed', async () => {
    const rosters = { 1: roster(1, 2), 2: roster(1, 2), 3: roster(1, 2) };
    const order = await route(rosters, new Suspects(), 'timeout');
    expect(order.map(([cluster]) => cluster)).toEqual([1, 2, 3]);
  });

  it('offers clusters that failed an earlier call last, in the order they have', async () => {
    const suspects = new Suspects();
    suspects.note(2, 'unreachable');
    suspects.note(1, 'bad-answer');
    const rosters = { 1: roster(1, 2), 2: roster(1), 3: roster(1) };
    const order = await route(rosters, suspects);
    expect(order.map(([cluster]) => cluster)).toEqual([3, 1, 1, 2]);
  });

  it('passes clusters whose roster is empty or cannot be read', async () => {
    using warn = vi.spyOn(console, 'warn').mockReturnValue();
    expect(await route({ 1: [], 3: roster(4) })).toEqual([[3, 4]]);
    expect(warn).toHaveBeenCalledExactlyOnceWith(
      expect.objectContaining({ region: 'eu-central-1', error: 'Error: away' }),
    );
  });

  it('reads a roster only when its turn comes', async () => {
    const read: number[] = [];
    const readRoster = async ({ cluster }: SteeringCluster) => {
      read.push(cluster);
      return roster(1);
    };
    const choices = candidates({ clusters, peers: 1 }, readRoster, new Suspects());
    await choices.next();
    expect(read).toEqual([1]);
  });

  it('reads no more rosters when time is over, which those before took', async () => {
    const read: number[] = [];
    const readRoster = async ({ cluster }: SteeringCluster) => {
      read.push(cluster);
      return [];
    };
    const isLate = () => read.length === 2;
    const choices = candidates({ clusters, peers: 1 }, readRoster, new Suspects(), isLate);
    expect(await choices.next()).toEqual({ done: true, value: undefined });
    expect(read).toEqual([1, 2]);
  });

  describe('among clusters that are about equally near', () => {
    it.each([
      [[busy(5), busy(4), busy(0)], [0, 0], 2],
      [[busy(4), busy(5), busy(0)], [0, 0], 1],
      [[busy(5), busy(4), busy(0)], [0.99, 0], 3],
      [[busy(5), busy(4), busy(3)], [0.34, 0.99], 2],
      [[busy(5), busy(5), busy(0)], [0, 0], 1],
      [[busy(9), [], []], [0, 0], 1],
      [[[], busy(9), []], [0, 0], 2],
    ])('takes the emptier of two that are drawn: %#', async ([a, b, c], lots, first) => {
      expect(await firstOf({ 1: a!, 2: b!, 3: c! }, 3, lots)).toBe(first);
    });

    it('draws none that failed a moment ago', async () => {
      const suspects = new Suspects();
      suspects.note(2, 'timeout');
      expect(await firstOf({ 1: busy(5), 2: busy(0), 3: busy(4) }, 3, [0, 0], suspects)).toBe(3);
    });

    it('does not look at the load of those that are further', async () => {
      expect(await firstOf({ 1: busy(5), 2: busy(0), 3: busy(0) }, 1)).toBe(1);
    });
  });
});
