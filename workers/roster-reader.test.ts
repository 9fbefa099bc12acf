import { env } from 'cloudflare:workers';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { rosterOf, rosterReader } from './roster-reader.ts';
import { joinTestRoster, report, testRoster } from './testing/roster-link.ts';
import { clusterAt, testTable } from './testing/steering-table.ts';

afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

// Where an object lives cannot be seen from outside, so what is asked for is.
it.each([
  [0, 'enam'],
  [1, 'weur'],
  [2, 'apac-ne'],
])('asks that the roster of cluster %d of the table live near it', (index, locationHint) => {
  using asked = vi.spyOn(env.ROSTER, 'getByName');
  const cluster = testTable().clusters[index]!;
  rosterOf(env.ROSTER, cluster);
  expect(asked).toHaveBeenCalledExactlyOnceWith(String(cluster.cluster), { locationHint });
});

/** An object that is away, or never answers, cannot be had here. */
const rosterThat = (snapshot: () => Promise<never>) =>
  vi.spyOn(env.ROSTER, 'getByName').mockImplementation((name) => {
    const stub = env.ROSTER.get(env.ROSTER.idFromName(name));
    return new Proxy(stub, {
      get: (target, key) => (key === 'snapshot' ? snapshot : Reflect.get(target, key)),
    });
  });
const isAway = () => Promise.reject(new Error('the object is away'));

describe('a roster that was read', () => {
  it('is good for a second, is used for ten while it is renewed, and then is none', async () => {
    const cluster = clusterAt(40_001, 'eu-test-1', 50, 8);
    const { socket } = await joinTestRoster(testRoster(cluster.cluster), 1);
    socket.send(JSON.stringify(report(1)));
    await vi.waitFor(async () =>
      expect(await rosterOf(env.ROSTER, cluster).snapshot()).toHaveLength(1),
    );
    const start = Date.now();
    vi.useFakeTimers({ toFake: ['Date'], now: start });
    using warn = vi.spyOn(console, 'warn').mockReturnValue();
    const work: Promise<unknown>[] = [];
    const read = () => rosterReader(env.ROSTER, (promise) => void work.push(promise))(cluster);
    const entries = await read();
    expect(entries).toHaveLength(1);
    const asked = rosterThat(isAway);

    vi.setSystemTime(start + 1_000);
    expect(await read()).toBe(entries);
    expect(asked).not.toHaveBeenCalled();

    vi.setSystemTime(start + 1_001);
    expect(await read()).toBe(entries);
    await Promise.all(work);
    expect(asked).toHaveBeenCalledOnce();
    expect(warn).toHaveBeenCalledOnce();

    vi.setSystemTime(start + 10_000);
    expect(await read()).toBe(entries);
    vi.setSystemTime(start + 10_001);
    await expect(read()).rejects.toThrow('away');
    socket.close();
  });
});

it('a roster that does not answer is given up', async () => {
  rosterThat(() => new Promise<never>(() => undefined));
  const reader = rosterReader(env.ROSTER, () => undefined);
  await expect(reader(clusterAt(40_002, 'eu-test-1', 50, 8))).rejects.toThrow('nothing came');
});
