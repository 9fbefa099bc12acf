import { env } from 'cloudflare:workers';
import { evictDurableObject } from 'cloudflare:test';
import * as fc from 'fast-check';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { ROSTER_DEAD, ROSTER_HEARTBEAT } from '../protocol/roster.ts';
import { parseSigningKey, sign } from '../protocol/signature.ts';
import { MAX_REPORT_LENGTH, MAX_REPORTS, type Roster } from './roster.ts';
import {
  askToJoin,
  joinTestRoster,
  report,
  testRoster,
  type Link,
  type TestRoster,
} from './testing/roster-link.ts';

const key = parseSigningKey(env.SIGNING_KEY);
let clusters = 100;
const opened: WebSocket[] = [];

afterEach(() => {
  vi.useRealTimers();
  for (const socket of opened.splice(0)) socket.close();
});

/** A roster of its own for each test. */
const newRoster = () => testRoster(clusters++);

function restart(roster: DurableObjectStub<Roster>): Promise<void> {
  return evictDurableObject(roster, { webSockets: 'close' });
}

async function join(own: TestRoster, transceiver: number): Promise<Link> {
  const link = await joinTestRoster(own, transceiver);
  opened.push(link.socket);
  return link;
}

async function ids(roster: DurableObjectStub<Roster>): Promise<number[]> {
  return (await roster.snapshot()).map(({ transceiver }) => transceiver);
}

describe('Roster', () => {
  it('knows a transceiver by its last report, until it leaves', async () => {
    const own = newRoster();
    expect(await ids(own.roster)).toEqual([]);
    const { socket, closed } = await join(own, 7);
    expect(await ids(own.roster)).toEqual([]);
    socket.send(JSON.stringify(report(7)));
    socket.send(JSON.stringify(report(7, 4)));
    await vi.waitFor(async () =>
      expect(await own.roster.snapshot()).toMatchObject([{ transceiver: 7, sessions: 4 }]),
    );
    socket.close(1000);
    expect((await closed).wasClean).toBe(true);
    expect(await ids(own.roster)).toEqual([]);
  });

  it('lists transceivers in the order of their ids, each cluster its own', async () => {
    const [one, other] = [newRoster(), newRoster()];
    for (const id of [9, 2, 5]) {
      const { socket } = await join(one, id);
      socket.send(JSON.stringify(report(id)));
    }
    await vi.waitFor(async () => expect(await ids(one.roster)).toEqual([2, 5, 9]));
    expect(await ids(other.roster)).toEqual([]);
  });

  it('counts a transceiver as dead when its reports stop, though its socket is open', async () => {
    const own = newRoster();
    const { socket } = await join(own, 1);
    socket.send(JSON.stringify(report(1)));
    await vi.waitFor(async () => expect(await ids(own.roster)).toEqual([1]));
    const [entry] = await own.roster.snapshot();
    // The clock alone is held; waiting would make the test as slow as the rule.
    vi.useFakeTimers({ toFake: ['Date'], now: entry!.seenAt + ROSTER_DEAD - 1 });
    expect(await ids(own.roster)).toEqual([1]);
    vi.setSystemTime(entry!.seenAt + ROSTER_DEAD);
    socket.send('ping');
    expect(await ids(own.roster)).toEqual([]);
  });

  it('answers a ping', async () => {
    const { socket } = await join(newRoster(), 1);
    const answer = new Promise<MessageEvent>((resolve) =>
      socket.addEventListener('message', resolve),
    );
    socket.send('ping');
    expect((await answer).data).toBe('pong');
  });

  it('lets go of an older link of the same transceiver', async () => {
    const own = newRoster();
    const first = await join(own, 1);
    first.socket.send(JSON.stringify(report(1, 1)));
    const second = await join(own, 1);
    expect((await first.closed).code).toBe(4000);
    second.socket.send(JSON.stringify(report(1, 2)));
    await vi.waitFor(async () =>
      expect(await own.roster.snapshot()).toMatchObject([{ transceiver: 1, sessions: 2 }]),
    );
  });

  it('counts reports anew after a while', async () => {
    const own = newRoster();
    const { socket } = await join(own, 1);
    let now = Date.now();
    for (let i = 0; i < 2 * MAX_REPORTS; i++) {
      // The clock alone is held; waiting would make the test as slow as the rule.
      vi.useFakeTimers({ toFake: ['Date'], now: (now += ROSTER_HEARTBEAT / 2) });
      socket.send(JSON.stringify(report(1, i)));
      await vi.waitFor(async () =>
        expect(await own.roster.snapshot()).toMatchObject([report(1, i)]),
      );
    }
  });

  it('keeps what it knows when it forgets its memory', async () => {
    const own = newRoster();
    const { socket } = await join(own, 3);
    socket.send(JSON.stringify(report(3)));
    await vi.waitFor(async () => expect(await ids(own.roster)).toEqual([3]));
    await evictDurableObject(own.roster, { webSockets: 'hibernate' });
    expect(await own.roster.snapshot()).toMatchObject([report(3)]);
    socket.send(JSON.stringify(report(3, 8)));
    await vi.waitFor(async () => expect(await own.roster.snapshot()).toMatchObject([report(3, 8)]));
  });

  describe('after a restart that cut all links', () => {
    it('believes that who was there is there, until it had time to come back', async () => {
      const own = newRoster();
      const { socket } = await join(own, 3);
      socket.send(JSON.stringify(report(3, 2)));
      await vi.waitFor(async () => expect(await ids(own.roster)).toEqual([3]));
      await restart(own.roster);
      const [entry] = await own.roster.snapshot();
      expect(entry).toMatchObject(report(3, 2));
      // The clock alone is held; waiting would make the test as slow as the rule.
      vi.useFakeTimers({ toFake: ['Date'], now: entry!.seenAt + ROSTER_DEAD - 1 });
      expect(await ids(own.roster)).toEqual([3]);
      vi.setSystemTime(entry!.seenAt + ROSTER_DEAD);
      expect(await ids(own.roster)).toEqual([]);
    });

    it('goes by a new report as soon as there is one', async () => {
      const own = newRoster();
      const { socket } = await join(own, 3);
      socket.send(JSON.stringify(report(3)));
      await vi.waitFor(async () => expect(await ids(own.roster)).toEqual([3]));
      await restart(own.roster);
      const again = await join(own, 3);
      expect(await own.roster.snapshot()).toMatchObject([report(3)]);
      again.socket.send(JSON.stringify(report(3, 9)));
      await vi.waitFor(async () =>
        expect(await own.roster.snapshot()).toMatchObject([report(3, 9)]),
      );
    });

    it('knows who had begun to drain', async () => {
      const own = newRoster();
      const { socket } = await join(own, 3);
      socket.send(JSON.stringify(report(3)));
      socket.send(JSON.stringify({ ...report(3), draining: true }));
      await vi.waitFor(async () =>
        expect(await own.roster.snapshot()).toMatchObject([{ draining: true }]),
      );
      await restart(own.roster);
      expect(await own.roster.snapshot()).toMatchObject([{ transceiver: 3, draining: true }]);
    });

    it('has forgotten who left before', async () => {
      const own = newRoster();
      const [stays, leaves] = [await join(own, 1), await join(own, 2)];
      stays.socket.send(JSON.stringify(report(1)));
      leaves.socket.send(JSON.stringify(report(2)));
      await vi.waitFor(async () => expect(await ids(own.roster)).toEqual([1, 2]));
      leaves.socket.close(1000);
      await leaves.closed;
      await restart(own.roster);
      expect(await ids(own.roster)).toEqual([1]);
    });

    it('still refuses a token that was used', async () => {
      const { cluster, roster } = newRoster();
      const token = sign(key, cluster, { op: 'join', transceiver: 1 });
      const first = await askToJoin(roster, `Bearer ${token}`);
      expect(first.status).toBe(101);
      first.webSocket!.accept();
      opened.push(first.webSocket!);
      await restart(roster);
      const second = await askToJoin(roster, `Bearer ${token}`);
      expect(second.status).toBe(401);
      expect(await second.json()).toMatchObject({
        detail: expect.stringContaining('used before'),
      });
    });
  });

  describe('refuses to let in', () => {
    it.each([
      ['nobody', undefined],
      ['a token of another kind', 'Basic abc'],
      ['what is no token', 'Bearer a.b.c'],
      ['characters that no token has', 'Bearer a b'],
    ])('%s', async (_name, authorization) => {
      const { roster } = newRoster();
      const response = await askToJoin(roster, authorization);
      expect(response.status).toBe(401);
      expect(await response.json()).toMatchObject({
        type: 'urn:global-relay:problem:unauthorized',
      });
    });

    it('a token for another cluster', async () => {
      const { cluster, roster } = newRoster();
      const token = sign(key, cluster + 1, { op: 'join', transceiver: 1 });
      const response = await askToJoin(roster, `Bearer ${token}`);
      expect(response.status).toBe(401);
      await response.body?.cancel();
    });

    it('a token of another key', async () => {
      const { cluster, roster } = newRoster();
      const claims = { op: 'join', transceiver: 1 } as const;
      const token = sign(new Uint8Array(32), cluster, claims);
      const response = await askToJoin(roster, `Bearer ${token}`);
      expect(response.status).toBe(401);
      await response.body?.cancel();
    });

    it('a token a second time', async () => {
      const { cluster, roster } = newRoster();
      const token = sign(key, cluster, { op: 'join', transceiver: 1 });
      const first = await askToJoin(roster, `Bearer ${token}`);
      expect(first.status).toBe(101);
      first.webSocket!.accept();
      opened.push(first.webSocket!);
      const second = await askToJoin(roster, `Bearer ${token}`);
      expect(second.status).toBe(401);
      await second.body?.cancel();
    });

    it('a token that lets something else be done', async () => {
      const { cluster, roster } = newRoster();
      const claims = { requestId: 'r', transceiver: 1, call: 'a'.repeat(32), tenant: '' };
      const token = sign(key, cluster, { op: 'end', ...claims });
      const response = await askToJoin(roster, `Bearer ${token}`);
      expect(response.status).toBe(401);
      await response.body?.cancel();
    });
  });

  describe('closes with 1008 the link of a transceiver that sends', () => {
    it.each<[string, string | Uint8Array]>([
      ['no JSON', 'hello'],
      ['another id than it joined with', JSON.stringify(report(2))],
      ['a field too few', JSON.stringify({ transceiver: 1 })],
      ['a field too many', JSON.stringify({ ...report(1), more: 1 })],
      ['a negative load', JSON.stringify(report(1, -1))],
      ['a binary message', new Uint8Array([1, 2, 3])],
      ['a report with a long tail', JSON.stringify(report(1)) + ' '.repeat(MAX_REPORT_LENGTH)],
    ])('%s', async (_name, message) => {
      const own = newRoster();
      const { socket, closed } = await join(own, 1);
      socket.send(message);
      expect((await closed).code).toBe(1008);
      expect(await ids(own.roster)).toEqual([]);
    });

    it('reports far more often than a heartbeat', async () => {
      const own = newRoster();
      const { socket, closed } = await join(own, 1);
      for (let i = 0; i < MAX_REPORTS; i++) socket.send(JSON.stringify(report(1, i)));
      const last = report(1, MAX_REPORTS - 1);
      await vi.waitFor(async () => expect(await own.roster.snapshot()).toMatchObject([last]));
      socket.send(JSON.stringify(report(1)));
      expect((await closed).code).toBe(1008);
      expect(await ids(own.roster)).toEqual([]);
    });

    it('anything else', async () => {
      const own = newRoster();
      const text = fc.oneof(fc.string(), fc.json()).filter((message) => message !== 'ping');
      await fc.assert(
        fc.asyncProperty(text, async (message) => {
          const { socket, closed } = await join(own, 1);
          socket.send(message);
          expect((await closed).code).toBe(1008);
        }),
        { numRuns: 50 },
      );
    });
  });
});
