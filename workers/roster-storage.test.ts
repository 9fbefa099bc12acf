import { env } from 'cloudflare:workers';
import { runInDurableObject } from 'cloudflare:test';
import { expect, it } from 'vitest';
import { TOKEN_REMEMBERED } from '../protocol/signature.ts';
import { RosterStorage, SAVE_EVERY } from './roster-storage.ts';

const NOW = 1_000_000;
const report = (transceiver: number) => ({
  transceiver,
  sessions: 1,
  capacity: 10,
  draining: false,
});
let objects = 9_000;

function withStorage<T>(work: (storage: RosterStorage) => T): Promise<T> {
  const stub = env.ROSTER.getByName(String(objects++));
  return runInDurableObject(stub, (_, { storage }) => work(new RosterStorage(storage.sql)));
}

it('lets a token be used once for as long as it could be good', async () => {
  const used = await withStorage((storage) => [
    storage.spend('a', NOW),
    storage.spend('b', NOW),
    storage.spend('a', NOW + TOKEN_REMEMBERED * 1000 - 1),
    storage.spend('a', NOW + TOKEN_REMEMBERED * 1000),
  ]);
  expect(used).toEqual([true, true, false, true]);
});

it('knows the last report of each for twice the time between saves', async () => {
  const [fresh, old, older] = await withStorage((storage) => {
    storage.save(report(1), NOW);
    storage.save(report(2), NOW + 1);
    storage.save({ ...report(1), sessions: 5 }, NOW);
    const end = NOW + 2 * SAVE_EVERY;
    return [storage.members(NOW), storage.members(end), storage.members(end + 1)];
  });
  expect(fresh).toEqual([{ ...report(1), sessions: 5 }, report(2)]);
  expect(old).toEqual([report(2)]);
  expect(older).toEqual([]);
});

it('forgets who left', async () => {
  const members = await withStorage((storage) => {
    storage.save(report(1), NOW);
    storage.forget(1);
    return storage.members(NOW);
  });
  expect(members).toEqual([]);
});
