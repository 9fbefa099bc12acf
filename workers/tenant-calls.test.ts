import { env } from 'cloudflare:workers';
import { evictDurableObject } from 'cloudflare:test';
import * as fc from 'fast-check';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { ROSTER_HEARTBEAT } from '../protocol/roster.ts';
import { CALLS_GONE } from './roster-calls.ts';
import { SESSION_LIFETIME } from './session-lifetime.ts';
import { LOOK_EVERY, SETTLED } from './tenant-calls.ts';
import {
  joinTestRoster,
  report,
  testRoster,
  type Link,
  type TestRoster,
} from './testing/roster-link.ts';
import { CALL_DEADLINE } from './tries.ts';

let made = 0;
const opened: WebSocket[] = [];

afterEach(() => {
  vi.useRealTimers();
  for (const socket of opened.splice(0)) socket.close();
});

/** A tenant of its own for each test. */
function newTenant() {
  const name = `tenant-${made++}`;
  return { name, calls: env.TENANT_CALLS.getByName(name) };
}

interface Reporting {
  readonly roster: TestRoster;
  readonly link: Link;
  /** Waits until the roster knows that the tenant has so many calls. */
  readonly has: (tenant: string, calls: number) => Promise<void>;
}

/** A cluster of its own, with one transceiver that reports what it is told to. */
async function newCluster(): Promise<Reporting> {
  const roster = testRoster(20_000 + made++);
  const link = await joinTestRoster(roster, 1);
  opened.push(link.socket);
  return {
    roster,
    link,
    has: async (tenant, count) => {
      const calls = count === 0 ? [] : [[tenant, count]];
      link.socket.send(JSON.stringify({ ...report(1), calls }));
      await vi.waitFor(async () => expect(await roster.roster.callsOf(tenant)).toBe(count));
    },
  };
}

/** Holds the clock alone, that far from now; waiting would make the test as slow as the rule. */
function pass(milliseconds: number): void {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + milliseconds });
}

type Calls = ReturnType<typeof newTenant>['calls'];

/** Asks for so many places at once. @returns How many were given. */
async function admit(calls: Calls, prefix: string, count: number, cap: number, cluster = 1) {
  const asked = Array.from({ length: count }, (_, i) => calls.admit(`${prefix}${i}`, cluster, cap));
  return (await Promise.all(asked)).filter(Boolean).length;
}

describe('a tenant with a cap', () => {
  it('has no more calls than it, however many come at once', async () => {
    const { calls } = newTenant();
    expect(await admit(calls, 'a', 40, 5)).toBe(5);
    expect(await calls.count()).toBe(5);
    expect(await admit(newTenant().calls, 'a', 40, 50)).toBe(40);
  });

  it('has room again for each call that ended, and for no other', async () => {
    const { calls } = newTenant();
    await admit(calls, 'a', 5, 5);
    await calls.release('a1');
    await calls.release('a1');
    await calls.release('no-call');
    expect(await admit(calls, 'b', 40, 5)).toBe(1);
  });

  it('has one place for a call that went elsewhere under another name', async () => {
    const { calls } = newTenant();
    await calls.admit('first', 1, 1);
    await calls.move('first', 'second', 2);
    expect(await calls.count()).toBe(1);
    await calls.release('first');
    expect(await calls.admit('next', 1, 1)).toBe(false);
    await calls.release('second');
    expect(await calls.admit('next', 1, 1)).toBe(true);
  });

  it('counts a call that was taken without being asked for', async () => {
    const { calls } = newTenant();
    await calls.move('unknown', 'taken', 1);
    expect(await calls.admit('next', 1, 1)).toBe(false);
  });

  it('has its calls after the object was evicted', async () => {
    const { calls } = newTenant();
    await admit(calls, 'a', 3, 3);
    await calls.release('a0');
    await evictDurableObject(calls);
    expect(await calls.count()).toBe(2);
    expect(await admit(calls, 'b', 40, 3)).toBe(1);
  });

  it('keeps within a cap that was lowered, and uses one that was raised', async () => {
    const { calls } = newTenant();
    await admit(calls, 'a', 5, 5);
    expect(await admit(calls, 'b', 3, 2)).toBe(0);
    expect(await admit(calls, 'c', 3, 6)).toBe(1);
  });

  it('has room again for calls of which rosters say that they ended', async () => {
    const { name, calls } = newTenant();
    const [one, two] = [await newCluster(), await newCluster()];
    await admit(calls, 'a', 3, 5, one.roster.cluster);
    await admit(calls, 'b', 2, 5, two.roster.cluster);
    pass(SETTLED);
    await one.has(name, 3);
    await two.has(name, 2);
    expect(await admit(calls, 'c', 9, 5)).toBe(0);
    pass(LOOK_EVERY);
    await one.has(name, 1);
    expect(await admit(calls, 'c', 9, 5, one.roster.cluster)).toBe(2);
    pass(LOOK_EVERY);
    await two.has(name, 0);
    expect(await admit(calls, 'd', 9, 5, two.roster.cluster)).toBe(2);
    expect(await calls.count()).toBe(5);
  });

  it('goes by no report that a call may be too new for', async () => {
    const { name, calls } = newTenant();
    const { roster, has } = await newCluster();
    await admit(calls, 'old', 1, 3, roster.cluster);
    pass(SETTLED - 1_000);
    await admit(calls, 'new', 2, 3, roster.cluster);
    pass(1_000);
    await has(name, 0);
    // The old one ended; the new ones may be on their way.
    expect(await admit(calls, 'next', 9, 3, roster.cluster)).toBe(1);
  });

  it('looks at rosters only so often, however many are refused', async () => {
    const { name, calls } = newTenant();
    const { roster, has } = await newCluster();
    await admit(calls, 'a', 1, 1, roster.cluster);
    pass(SETTLED);
    await has(name, 1);
    expect(await calls.admit('b', roster.cluster, 1)).toBe(false);
    await has(name, 0);
    expect(await calls.admit('b', roster.cluster, 1)).toBe(false);
    pass(LOOK_EVERY);
    expect(await calls.admit('b', roster.cluster, 1)).toBe(true);
  });

  it('has room again once a transceiver that crashed is gone, and not before', async () => {
    const { name, calls } = newTenant();
    const { roster, link, has } = await newCluster();
    await admit(calls, 'a', 2, 2, roster.cluster);
    pass(SETTLED);
    await has(name, 2);
    link.socket.close(1001);
    await link.closed;
    await vi.waitFor(async () => expect(await roster.roster.callsOf(name)).toBeUndefined());
    expect(await admit(calls, 'b', 9, 2)).toBe(0);
    pass(CALLS_GONE);
    expect(await admit(calls, 'b', 9, 2)).toBe(2);
  });

  it('has its calls while a transceiver is away from its roster and comes back', async () => {
    const { name, calls } = newTenant();
    const { roster, link, has } = await newCluster();
    await admit(calls, 'a', 2, 2, roster.cluster);
    pass(SETTLED);
    await has(name, 2);
    link.socket.close(1001);
    await link.closed;
    pass(CALLS_GONE - ROSTER_HEARTBEAT);
    expect(await admit(calls, 'b', 9, 2)).toBe(0);
    const again = await joinTestRoster(roster, 1);
    opened.push(again.socket);
    again.socket.send(JSON.stringify({ ...report(1), calls: [[name, 2]] }));
    await vi.waitFor(async () => expect(await roster.roster.callsOf(name)).toBe(2));
    pass(ROSTER_HEARTBEAT);
    expect(await admit(calls, 'b', 9, 2)).toBe(0);
  });

  it('has no call longer than one lives, whatever rosters do not say', async () => {
    const { calls } = newTenant();
    const roster = testRoster(20_000 + made++);
    pass(0);
    opened.push((await joinTestRoster(roster, 1)).socket);
    await admit(calls, 'a', 2, 2, roster.cluster);
    for (const step of [SESSION_LIFETIME, CALL_DEADLINE]) {
      // One that has joined and says nothing yet.
      pass(step - 1);
      opened.push((await joinTestRoster(roster, 1)).socket);
      expect(await admit(calls, 'b', 1, 2)).toBe(0);
    }
    pass(LOOK_EVERY);
    opened.push((await joinTestRoster(roster, 1)).socket);
    expect(await admit(calls, 'b', 9, 2)).toBe(2);
  });

  it('never has more calls than its cap, whatever happens in whatever order', async () => {
    const cap = 3;
    const step = fc.oneof(
      fc.constant('start' as const),
      fc.constant('end' as const),
      fc.constant('vanish' as const),
      fc.constant('report' as const),
      fc.constant('evict' as const),
      fc.constant('later' as const),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
        const { name, calls } = newTenant();
        const { roster, has } = await newCluster();
        const live = new Set<string>();
        let started = 0;
        await has(name, 0);
        for (const what of steps) {
          const [oldest] = live;
          if (what === 'start') {
            const call = `call-${started++}`;
            if (await calls.admit(call, roster.cluster, cap)) live.add(call);
          } else if (what === 'end' && oldest !== undefined) {
            live.delete(oldest);
            await calls.release(oldest);
          } else if (what === 'vanish' && oldest !== undefined) {
            live.delete(oldest);
          } else if (what === 'report') {
            await has(name, live.size);
          } else if (what === 'evict') {
            // Only one that runs can be evicted.
            await calls.release('no-call');
            await evictDurableObject(calls);
          } else if (what === 'later') {
            pass(SETTLED / 2);
            // As its heartbeat would have done meanwhile.
            await has(name, live.size);
          }
          expect(live.size).toBeLessThanOrEqual(cap);
        }
        pass(SETTLED);
        await has(name, live.size);
        expect(await calls.count()).toBe(live.size);
        vi.useRealTimers();
      }),
      { numRuns: 20 },
    );
  });
});
