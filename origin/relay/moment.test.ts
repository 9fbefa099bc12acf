import { afterEach, expect, test, vi } from 'vitest';
import { Clock, steadyNow } from './moment.ts';
import { check } from './testing/packets.ts';
import {
  HOUR,
  eventually,
  openEnd,
  openRelay,
  openTransceivers,
  prove,
  ufragFor,
} from './testing/rig.ts';
import { runThread } from './testing/worker.ts';

/** Milliseconds by which readings of two threads' clocks may lie in a wrong order. */
const TOLERANCE = 1;

afterEach(() => vi.useRealTimers());

test('all threads have one steady clock, however late they start', async () => {
  for (let i = 0; i < 3; i++) {
    const before = steadyNow();
    const there = await runThread<number>('./clock-thread.ts', undefined);
    expect(there).toBeGreaterThanOrEqual(before - TOLERANCE);
    expect(there).toBeLessThanOrEqual(steadyNow() + TOLERANCE);
  }
});

test('a clock shows both times, in one object', () => {
  const clock = new Clock();
  const first = clock.read();
  const { steady } = first;
  vi.useFakeTimers({ toFake: ['Date'], now: 1234 });
  expect(clock.read()).toBe(first);
  expect(first.wall).toBe(1234);
  expect((first.steady - steady) | 0).toBeGreaterThanOrEqual(0);
});

test('flows end though the wall clock is set back, and tokens only by the wall clock', async () => {
  const { transceivers, ends } = await openTransceivers(5);
  const relay = await openRelay({ transceivers, io: 'dgram', limits: { idle: 200 } });
  const client = await openEnd();
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() });
  await prove(client, relay, ends(5), ufragFor(1, 5));
  vi.setSystemTime(Date.now() - HOUR);
  await eventually(() => expect(relay.counters().flows).toEqual({ tentative: 0, proven: 0 }));

  const ufrag = ufragFor(1, 5, Date.now() + HOUR);
  await prove(client, relay, ends(5), ufrag);
  vi.setSystemTime(Date.now() + 2 * HOUR);
  await eventually(() => {
    client.send(check(ufrag), relay.listeners[0]!);
    expect(relay.counters().drops.expired).toBeGreaterThan(0);
  });
});
