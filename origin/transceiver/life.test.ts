/** The life of sessions with real clients: what ends them, how a transceiver drains, what is left behind. */
import { expect, test, vi } from 'vitest';
import { echo } from '../backend/echo.ts';
import { END_REASONS } from './end-reason.ts';
import { openStage, type Stage } from './testing/stage.ts';
import { until } from './testing/until.ts';
import { weriftClient } from './testing/werift-client.ts';

vi.setConfig({ testTimeout: 120_000 });

const HOUR = 3_600_000;
const never = new AbortController().signal;

const timers = () => process.getActiveResourcesInfo().filter((it) => it === 'Timeout').length;

async function connected(stage: Stage, label = 'oai-events') {
  const client = await weriftClient({ label });
  const { answer, call } = stage.create(client.offer);
  await client.take(answer);
  await until(() => client.channel.readyState === 'open');
  return { client, call, [Symbol.asyncDispose]: () => client[Symbol.asyncDispose]() };
}

test('a session in which nothing is said any more ends as idle, one that speaks goes on', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  try {
    await using stage = await openStage({ limits: { idle: 10_000 } });
    await using silent = await connected(stage);
    await using speaking = await connected(stage);
    for (let i = 0; i < 2; i++) {
      vi.advanceTimersByTime(6_000);
      const { rtpIn } = stage.session(speaking.call)!.counters;
      speaking.client.speak(Buffer.from('x'));
      await until(() => stage.session(speaking.call)!.counters.rtpIn > rtpIn);
    }
    expect(await stage.ended(silent.call)).toBe('idle');
    expect(stage.session(speaking.call)?.state).toBe('connected');
    vi.advanceTimersByTime(6_000);
    speaking.client.channel.send('x');
    await until(() => speaking.client.messages.length === 1);
    vi.advanceTimersByTime(6_000);
    await until(() => stage.transceiver.counters().ended.idle === 1);
    expect(stage.session(speaking.call)?.state).toBe('connected');
  } finally {
    vi.useRealTimers();
  }
});

test('a session ends at its maximum length, whatever is said in it', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  try {
    await using stage = await openStage({ limits: { length: 40_000 } });
    await using it = await connected(stage);
    const { client, call } = it;
    vi.advanceTimersByTime(25_000);
    client.speak(Buffer.from('x'));
    await until(() => client.audio.length === 1);
    expect(stage.session(call)?.state).toBe('connected');
    vi.advanceTimersByTime(16_000);
    expect(await stage.ended(call)).toBe('max-length');
    await until(() => client.channel.readyState === 'closed');
  } finally {
    vi.useRealTimers();
  }
});

test('every session that was made is counted, live or by why it ended', async () => {
  await using stage = await openStage({ capacity: 1 });
  await using it = await connected(stage);
  const { client, call } = it;
  expect(() => stage.create('v=1')).toThrow('offer');
  expect(() => stage.create(client.offer)).toThrow('all the sessions it can');
  client.speak(Buffer.from('x'));
  await until(() => client.audio.length === 1);
  const before = stage.transceiver.counters();
  expect(before.sessions).toEqual({ checking: 0, securing: 0, connected: 1 });
  expect(before.refused).toEqual({ capacity: 1, draining: 0, conflict: 0, offer: 1 });
  expect(before.packets).toMatchObject({ rtpIn: 1, rtpOut: 1 });

  expect(stage.transceiver.end(call, 'acme')).toBe(true);
  const { sessions, created, ended, packets } = stage.transceiver.counters();
  expect(sessions).toEqual({ checking: 0, securing: 0, connected: 0 });
  expect(created).toBe(1);
  expect(Object.keys(ended).toSorted()).toEqual([...END_REASONS].toSorted());
  expect(Object.entries(ended).filter(([, count]) => count > 0)).toEqual([['deleted', 1]]);
  // What an ended session counted is not lost.
  expect(packets).toMatchObject({ rtpIn: 1, rtpOut: 1 });
});

test('a drain refuses new sessions, tells clients when they can be told, and ends when all have left', async () => {
  await using stage = await openStage();
  await using first = await connected(stage);
  // In the middle of its setup when the drain begins.
  await using late = await weriftClient({ label: 'oai-events' });
  const { answer, call } = stage.create(late.offer);

  const drained = stage.transceiver.drain(HOUR, never);
  expect(stage.transceiver.report().draining).toBe(true);
  expect(() => stage.create(late.offer)).toThrow('takes no new sessions');
  expect(stage.transceiver.counters().refused.draining).toBe(1);
  await late.take(answer);
  for (const { messages } of [first.client, late]) {
    await until(() => messages.length > 0);
    const event: unknown = JSON.parse(String(messages[0]));
    expect(event).toMatchObject({
      type: 'session.draining',
      event_id: expect.stringMatching(/^event_/),
      ends_in_ms: expect.any(Number),
    });
  }
  // A draining session is a session like any other.
  first.client.speak(Buffer.from('x'));
  await until(() => first.client.audio.length === 1);

  stage.transceiver.end(first.call, 'acme');
  stage.transceiver.end(call, 'acme');
  expect(await drained).toBe('empty');
  expect(first.client.messages).toHaveLength(1);
});

test('a drain ends the sessions that are left when its time is up, and can be cut short', async () => {
  await using stage = await openStage();
  await using left = await connected(stage);
  expect(await stage.transceiver.drain(500, never)).toBe('time is up');
  expect(await stage.ended(left.call)).toBe('drain-deadline');

  await using other = await openStage();
  await using stays = await connected(other);
  const abort = new AbortController();
  const drained = other.transceiver.drain(HOUR, abort.signal);
  abort.abort();
  expect(await drained).toBe('told to end at once');
  expect(other.session(stays.call)?.state).toBe('connected');
});

test('a drain of a transceiver without sessions is over at once', async () => {
  await using stage = await openStage();
  expect(await stage.transceiver.drain(HOUR, never)).toBe('empty');
});

test('sessions that come and go leave nothing behind', async () => {
  let open = 0;
  const counting = {
    name: 'counting',
    open: (...args: Parameters<typeof echo.open>) => {
      const session = echo.open(...args);
      open++;
      return { ...session, close: () => void open-- };
    },
  };
  await using stage = await openStage({ backend: counting });
  const base = timers();
  for (let round = 0; round < 5; round++) {
    const clients = await Promise.all(Array.from({ length: 3 }, () => connected(stage)));
    const unused = await weriftClient();
    const { call } = stage.create(unused.offer);
    expect(stage.transceiver.held.sessions).toBe(4);
    stage.transceiver.end(call, 'acme');
    for (const it of clients) stage.transceiver.end(it.call, 'acme');
    expect(stage.transceiver.held).toEqual({ sessions: 0, ufrags: 0, paths: 0 });
    expect(open).toBe(0);
    await Promise.all(
      [unused, ...clients.map((it) => it.client)].map((it) => it[Symbol.asyncDispose]()),
    );
  }
  await until(() => timers() <= base);
});
