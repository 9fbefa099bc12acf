import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { FOOTPRINT_FRESH, FootprintReader } from './footprint-reader.ts';
import { storing } from './testing/kv.ts';
import { testTable } from './testing/steering-table.ts';

const BUNDLED = 'us-east-1';
const STORED = 'eu-central-1';
const tableOf = (index: number) => ({ version: 1, clusters: [testTable().clusters[index]!] });

const none = () => null;
const isAway = (): never => {
  throw new Error('KV is away');
};
const another = () => JSON.stringify(tableOf(1));

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: Date.now() }));
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

/** Tells the region that is steered to while KV answers so, once everybody knows. */
function newReader() {
  const footprint = new FootprintReader(tableOf(0));
  vi.spyOn(console, 'error').mockReturnValue();
  const read = async (text: () => string | null) => {
    const work: Promise<unknown>[] = [];
    const background = (promise: Promise<unknown>) => void work.push(promise);
    const index = await footprint.read(storing(text).namespace, background);
    await Promise.all(work);
    vi.setSystemTime(Date.now() + 2 * FOOTPRINT_FRESH);
    return index.clusters[0]!.region;
  };
  return async (text: () => string | null) => {
    await read(text);
    return read(text);
  };
}

it.each([
  ['has none', none],
  ['is away', isAway],
])('the bundled table steers while KV %s, and gives way to that of KV', async (_, missing) => {
  const regionWhile = newReader();
  expect(await regionWhile(missing)).toBe(BUNDLED);
  expect(await regionWhile(another)).toBe(STORED);
});

it('the bundled table does not come back once there was one in KV', async () => {
  const regionWhile = newReader();
  expect(await regionWhile(another)).toBe(STORED);
  expect(await regionWhile(none)).toBe(STORED);
  expect(await regionWhile(isAway)).toBe(STORED);
});
