import { expect, test } from 'vitest';
import { ASKED, FLOW_WORDS, PENDING_CHECKS, STATE, TENTATIVE } from './flow.ts';
import { KeyedHash } from './keyed-hash.ts';
import {
  CHECK_LIFETIME,
  addCheck,
  clearChecks,
  hasCheck,
  hashTransaction,
} from './pending-checks.ts';

/** Not the first place, so that none is mistaken for it. */
const PLACE = FLOW_WORDS;

function newFlow(): Int32Array {
  const flows = new Int32Array(3 * FLOW_WORDS);
  flows[PLACE + STATE] = TENTATIVE;
  return flows;
}

function known(flows: Int32Array, ids: number[], now = 0): number[] {
  return ids.filter((id) => hasCheck(flows, PLACE, id, now));
}

test('checks are known by their ids until they are cleared', () => {
  const flows = newFlow();
  addCheck(flows, PLACE, 1, 0);
  addCheck(flows, PLACE, 2, 0);
  expect(known(flows, [0, 1, 2, 3])).toEqual([1, 2]);
  expect(flows[PLACE + STATE]).toBe(TENTATIVE | ASKED);

  clearChecks(flows, PLACE);
  expect(known(flows, [0, 1, 2, 3])).toEqual([]);
  expect(flows[PLACE + STATE]).toBe(TENTATIVE);
});

test('an answer counts only in time after the last check', () => {
  const flows = newFlow();
  addCheck(flows, PLACE, 1, 0);
  addCheck(flows, PLACE, 2, 10);
  expect(known(flows, [1, 2], 10 + CHECK_LIFETIME)).toEqual([1, 2]);
  expect(known(flows, [1, 2], 11 + CHECK_LIFETIME)).toEqual([]);
});

test('the newest checks are kept, however many there were', () => {
  const flows = newFlow();
  for (let last = 1; last <= 10 * PENDING_CHECKS; last++) {
    addCheck(flows, PLACE, last, 0);
    const all = Array.from({ length: last }, (_, i) => i + 1);
    expect(known(flows, all)).toEqual(all.slice(-PENDING_CHECKS));
  }
});

test('neighbours are left alone', () => {
  const flows = newFlow();
  for (let id = 1; id <= 3 * PENDING_CHECKS; id++) addCheck(flows, PLACE, id, 1);
  expect(flows.subarray(0, PLACE).every((word) => word === 0)).toBe(true);
  expect(flows.subarray(PLACE + FLOW_WORDS).every((word) => word === 0)).toBe(true);
});

test('ids hash by every byte, and by the key', () => {
  const [one, other] = [0, 1].map((at) => new KeyedHash(Int32Array.of(1, 2, 3), at));
  const hashes = new Set([one, other].map((keyed) => hashTransaction(Buffer.alloc(12), 0, keyed!)));
  for (let i = 0; i < 12; i++) {
    hashes.add(hashTransaction(Buffer.alloc(12).fill(1, i, i + 1), 0, one!));
  }
  expect(hashes.size).toBe(14);
});
