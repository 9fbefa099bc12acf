import { env } from 'cloudflare:workers';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { drain, DRAINED_PREFIX, listDrained, setDrained } from './drained.ts';
import { steeringIndex } from './steering.ts';
import { testTable } from './testing/steering-table.ts';

const store = env.FOOTPRINT;

afterEach(async () => {
  for (const id of await listDrained(store)) await setDrained(store, id, false, 'z');
});

it('a drained cluster drains, and no other changes', () => {
  const table = steeringIndex(testTable({ 3: { state: 'planned' } }));
  const states = drain(table, new Set([2, 3, 9])).clusters.map(({ state }) => state);
  expect(states).toEqual(['active', 'draining', 'planned']);
  expect(drain(table, new Set())).toBe(table);
});

describe('what the store has', () => {
  it('is all that was drained and not put back', async () => {
    expect(await listDrained(store)).toEqual(new Set());
    for (const cluster of [2, 3, 65_535]) await setDrained(store, cluster, true, 'a');
    await setDrained(store, 3, false, 'b');
    await setDrained(store, 7, false, 'b');
    expect(await listDrained(store)).toEqual(new Set([2, 65_535]));
  });

  it('loses nothing of changes at the same moment', async () => {
    const [stay, leave, come] = [
      [1, 2],
      [3, 4],
      [5, 6],
    ] as const;
    const set = (ids: readonly number[], isDrained: boolean) =>
      ids.map((id) => setDrained(store, id, isDrained, 'a'));
    await Promise.all(set([...stay, ...leave], true));
    await Promise.all([...set(leave, false), ...set(come, true)]);
    expect(await listDrained(store)).toEqual(new Set([...stay, ...come]));
  });

  it('is read to the end when it is long', async () => {
    const ids = Array.from({ length: 1001 }, (_, i) => i + 1);
    await Promise.all(ids.map((id) => setDrained(store, id, true, 'a')));
    expect(await listDrained(store)).toEqual(new Set(ids));
  });

  it.each(['', 'x', '01', '0', '-1', '1.5', '1e1', '123456'])(
    'says what to do of a key that ends in %o, which drains nothing',
    async (id) => {
      using error = vi.spyOn(console, 'error').mockReturnValue();
      await store.put(DRAINED_PREFIX + id, '');
      expect(await listDrained(store)).toEqual(new Set());
      expect(error).toHaveBeenCalledExactlyOnceWith({
        message: `delete drained/${id} from FOOTPRINT: it names no cluster`,
      });
      await store.delete(DRAINED_PREFIX + id);
    },
  );
});
