import { expect, test } from 'vitest';
import { FlowOwners, YIELD_AFTER, ownersMemory } from './flow-owners.ts';
import { FLOW_WORDS, PROVEN, SEEN_AT, STATE, TENTATIVE } from './flow.ts';

const FLOWS = 10;
/** Hashes that differ where the lists, of the fewest owners there can be, do not look. */
const OWNER = 7;
const ALIKE = OWNER + 2 ** 20;

/** @returns What holds and asks for flows by their numbers, at the time 0. */
function open() {
  const flows = new Int32Array((FLOWS + 1) * FLOW_WORDS);
  const owned = new Map<number, number>();
  const memory = ownersMemory(1, FLOWS);
  const owners = new FlowOwners(memory, flows, (place) => owned.get(place)!);
  return {
    hold: (number: number, seenAt: number, state = TENTATIVE, owner = OWNER): void => {
      const place = number * FLOW_WORDS;
      flows[place + SEEN_AT] = seenAt;
      flows[place + STATE] = state;
      owned.set(place, owner);
      owners.hold(place);
    },
    release: (number: number): void => owners.release(number * FLOW_WORDS),
    yielding: (now: number, owner = OWNER): number => owners.yielding(owner, now) / FLOW_WORDS,
    count: (owner = OWNER): number => owners.count(owner),
    isEmpty: (): boolean => new Int32Array(memory.lists).every((word) => word === 0),
  };
}

test('the flow yields that was silent longest, once it was silent long enough', () => {
  const { hold, yielding } = open();
  hold(1, 20);
  hold(2, 10);
  hold(3, 30);
  expect(yielding(10 + YIELD_AFTER - 1)).toBe(0);
  expect(yielding(10 + YIELD_AFTER)).toBe(2);
  expect(yielding(1_000)).toBe(2);
});

test('a tentative flow yields before a proven one, wherever it stands', () => {
  const { hold, release, yielding } = open();
  hold(1, 0, PROVEN);
  hold(2, 100);
  hold(3, 0, PROVEN);
  expect(yielding(1_000)).toBe(2);
  release(2);
  hold(2, 900);
  expect([1, 3]).toContain(yielding(1_000));
});

test('flows of another owner never yield, though they share a list', () => {
  const { hold, yielding, count } = open();
  for (let number = 1; number <= 8; number++) hold(number, 0, TENTATIVE, ALIKE);
  hold(9, 0);
  expect([count(OWNER), count(ALIKE)]).toContain(8);
  const found = Array.from({ length: 5 }, () => yielding(1_000));
  expect(found.filter((number) => number !== 0 && number !== 9)).toEqual([]);
  expect(found).toContain(9);
});

test('flows come and go in any order, and leave nothing behind', () => {
  const { hold, release, yielding, count, isEmpty } = open();
  for (const order of [
    [1, 2, 3],
    [3, 2, 1],
    [2, 1, 3],
    [2, 3, 1],
  ]) {
    for (const number of [1, 2, 3]) hold(number, number);
    expect(yielding(1_000)).toBe(1);
    for (const number of order) release(number);
    expect([count(), yielding(1_000), isEmpty()]).toEqual([0, 0, true]);
  }
});
