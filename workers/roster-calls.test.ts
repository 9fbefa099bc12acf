import { evictDurableObject } from 'cloudflare:test';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { MAX_REPORTED_TENANTS, ROSTER_DEAD } from '../protocol/roster.ts';
import { CALLS_GONE } from './roster-calls.ts';
import { MAX_REPORT_LENGTH } from './roster.ts';
import {
  joinTestRoster,
  report,
  testRoster,
  type Link,
  type TestRoster,
} from './testing/roster-link.ts';

let clusters = 10_000;
const opened: WebSocket[] = [];

afterEach(() => {
  vi.useRealTimers();
  for (const socket of opened.splice(0)) socket.close();
});

async function join(own: TestRoster, transceiver: number): Promise<Link> {
  const link = await joinTestRoster(own, transceiver);
  opened.push(link.socket);
  return link;
}

const callsOf = ({ roster }: TestRoster, tenant = 'acme') => roster.callsOf(tenant);

function tell({ socket }: Link, transceiver: number, calls?: Record<string, number>): void {
  const told = calls && { calls: Object.entries(calls) };
  socket.send(JSON.stringify({ ...report(transceiver), ...told }));
}

const awaitCalls = (own: TestRoster, calls: number | undefined) =>
  vi.waitFor(async () => expect(await callsOf(own)).toBe(calls));

/** A roster with one transceiver that has told of calls. */
async function withCalls(calls: Record<string, number>) {
  const own = testRoster(clusters++);
  const link = await join(own, 1);
  tell(link, 1, calls);
  await awaitCalls(own, calls.acme ?? 0);
  return { own, link };
}

/** Holds the clock alone, that far from now; waiting would make the test as slow as the rule. */
function pass(milliseconds: number): void {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + milliseconds });
}

describe('the calls of a tenant in a cluster', () => {
  it('are those that its transceivers report together', async () => {
    const { own } = await withCalls({ acme: 2, rival: 9, constructor: 4 });
    const second = await join(own, 2);
    tell(second, 2, { acme: 3 });
    await awaitCalls(own, 5);
    expect(await callsOf(own, 'rival')).toBe(9);
    expect(await callsOf(own, 'nobody')).toBe(0);
    expect(await callsOf(own, 'constructor')).toBe(4);
    expect(await own.roster.snapshot()).toEqual([
      expect.not.objectContaining({ calls: expect.anything() }),
      expect.not.objectContaining({ calls: expect.anything() }),
    ]);
  });

  it('are none where nobody ever was', async () => {
    expect(await callsOf(testRoster(clusters++))).toBe(0);
  });

  it('are unknown while one of them does not tell', async () => {
    const { own } = await withCalls({ acme: 2 });
    const second = await join(own, 2);
    expect(await callsOf(own)).toBeUndefined();
    tell(second, 2, {});
    await awaitCalls(own, 2);
    tell(second, 2);
    await awaitCalls(own, undefined);
  });

  it('are unknown once a link broke, and gone when it is not back in time', async () => {
    const { own } = await withCalls({ acme: 2 });
    const ended = await join(own, 2);
    tell(ended, 2, { acme: 1 });
    await awaitCalls(own, 3);
    ended.socket.close(1001);
    await ended.closed;
    await awaitCalls(own, undefined);
    const { roster } = own;
    const [entry] = await roster.snapshot();
    vi.useFakeTimers({ toFake: ['Date'], now: entry!.seenAt + CALLS_GONE - 1 });
    expect(await callsOf(own)).toBeUndefined();
    pass(2);
    // Both are gone by now: the one that broke, and the one that is silent.
    await awaitCalls(own, 0);
  });

  it('are unknown when a transceiver has joined anew, until it reports', async () => {
    const { own } = await withCalls({ acme: 2 });
    const again = await join(own, 1);
    expect(await callsOf(own)).toBeUndefined();
    tell(again, 1, { acme: 4 });
    await awaitCalls(own, 4);
  });

  it('are unknown while a transceiver is silent, and gone when it stays so', async () => {
    const { own } = await withCalls({ acme: 2 });
    pass(ROSTER_DEAD);
    expect(await callsOf(own)).toBeUndefined();
    pass(CALLS_GONE);
    expect(await callsOf(own)).toBe(0);
  });

  it('are unknown when the link was cut for what was sent', async () => {
    const { own, link } = await withCalls({ acme: 2 });
    link.socket.send('hello');
    expect((await link.closed).code).toBe(1008);
    expect(await callsOf(own)).toBeUndefined();
  });

  it('go with a transceiver that leaves', async () => {
    const { own, link } = await withCalls({ acme: 2 });
    link.socket.close(1000);
    await link.closed;
    expect(await callsOf(own)).toBe(0);
  });

  it.each(['close', 'hibernate'] as const)(
    'are unknown after the roster lost its memory (sockets: %s), until the next report',
    async (webSockets) => {
      const { own, link } = await withCalls({ acme: 2 });
      await evictDurableObject(own.roster, { webSockets });
      expect(await callsOf(own)).toBeUndefined();
      const next = webSockets === 'close' ? await join(own, 1) : link;
      tell(next, 1, { acme: 1 });
      await awaitCalls(own, 1);
    },
  );

  it('fit into a report when there are as many tenants as can be', async () => {
    const names = Array.from({ length: MAX_REPORTED_TENANTS }, (_, i) =>
      `t${i}-`.padEnd(32, 'long-name'),
    );
    const calls = Object.fromEntries(names.map((name) => [name, 1_000_000]));
    const text = JSON.stringify({ ...report(65_535, 1e9), calls: Object.entries(calls) });
    expect(text.length).toBeLessThan(MAX_REPORT_LENGTH);
    const own = testRoster(clusters++);
    tell(await join(own, 1), 1, calls);
    await vi.waitFor(async () => expect(await callsOf(own, names.at(-1))).toBe(1_000_000));
  });
});
