import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { REFRESH_LOST, RefreshingCache } from './refreshing-cache.ts';

const LIMITS = { fresh: 1_000, stale: 10_000 };

// Only the clock is held: ages must be exact.
beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: 1_000_000 }));
afterEach(() => void vi.useRealTimers());

/** A cache of a counter, with what went on behind the requests. */
function counting(limits: ConstructorParameters<typeof RefreshingCache<number>>[0] = LIMITS) {
  const cache = new RefreshingCache<number>(limits);
  const work: Promise<unknown>[] = [];
  const errors: unknown[] = [];
  let loads = 0;
  let load = async () => ++loads;
  return {
    errors,
    get: () =>
      cache.get(
        load,
        (promise) => work.push(promise),
        (error) => errors.push(error),
      ),
    settled: () => Promise.all(work),
    loadBy: (other: () => Promise<number>) => (load = other),
    running: () => work.length,
  };
}

const pass = (ms: number) => vi.setSystemTime(Date.now() + ms);

describe('RefreshingCache', () => {
  it('serves a fresh value without a load', async () => {
    const { get, running } = counting();
    expect(await get()).toBe(1);
    pass(1_000);
    expect(await get()).toBe(1);
    expect(running()).toBe(0);
  });

  it('serves a stale value at once and renews it behind, once for all requests', async () => {
    const { get, settled, running } = counting();
    await get();
    pass(1_001);
    expect(await Promise.all([get(), get(), get()])).toEqual([1, 1, 1]);
    expect(running()).toBe(1);
    await settled();
    expect(await get()).toBe(2);
  });

  it('waits for a new value when the old one is too old', async () => {
    const { get } = counting();
    await get();
    pass(10_001);
    expect(await get()).toBe(2);
  });

  it('waits for a new value when the stale one is not worth keeping', async () => {
    const { get } = counting({ ...LIMITS, keep: (value) => value !== 1 });
    await get();
    expect(await get()).toBe(1);
    pass(1_001);
    expect(await get()).toBe(2);
  });

  it('goes on with the stale value when the load fails, then says so', async () => {
    const { get, loadBy, settled, errors } = counting();
    await get();
    pass(5_000);
    loadBy(() => Promise.reject(new Error('away')));
    expect(await get()).toBe(1);
    await settled();
    expect(errors.map(String)).toEqual(['Error: away']);
    expect(await get()).toBe(1);
    pass(5_001);
    await expect(get()).rejects.toThrow('away');
  });

  it('loads no more often than that while every load fails', async () => {
    const { get, loadBy, settled, errors } = counting({ ...LIMITS, stale: Infinity });
    await get();
    pass(1_001);
    loadBy(() => Promise.reject(new Error('malformed')));
    for (let i = 0; i < 10; i++) {
      expect(await get()).toBe(1);
      await settled();
    }
    expect(errors).toHaveLength(1);
    pass(REFRESH_LOST + 1);
    await get();
    await settled();
    expect(errors).toHaveLength(2);
    loadBy(async () => 7);
    pass(REFRESH_LOST + 1);
    await get();
    await settled();
    expect(await get()).toBe(7);
  });

  it('forgets a refresh that never ends', async () => {
    const { get, loadBy, running } = counting();
    await get();
    pass(1_001);
    loadBy(() => new Promise(() => {}));
    await get();
    pass(4_000);
    await get();
    expect(running()).toBe(1);
    pass(1_001);
    await get();
    expect(running()).toBe(2);
  });
});
