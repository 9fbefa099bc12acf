import { expect, test } from 'vitest';
import type { FlowRoute } from './flow.ts';
import { CHECK_LIFETIME, PENDING_CHECKS, PendingChecks } from './pending-checks.ts';

function routeTo(transceiver: number): FlowRoute {
  return { ufrag: Buffer.alloc(23), cluster: 1, transceiver, expiresAt: 0 };
}

function id(n: number): Buffer {
  return Buffer.alloc(12, n);
}

test('each check is answered by its own transaction id', () => {
  const checks = new PendingChecks();
  const [one, two] = [routeTo(1), routeTo(2)];
  checks.add(id(1), one, 0);
  checks.add(id(2), two, 0);
  expect(checks.answered(id(1), 1)).toBe(one);
  expect(checks.answered(id(2), 1)).toBe(two);
  expect(checks.answered(id(3), 1)).toBeUndefined();
});

test('an empty id answers nothing that was never asked', () => {
  expect(new PendingChecks().answered(id(0), 0)).toBeUndefined();
});

test('an answer counts only in time', () => {
  const checks = new PendingChecks();
  checks.add(id(1), routeTo(1), 0);
  expect(checks.answered(id(1), CHECK_LIFETIME)).toBeDefined();
  expect(checks.answered(id(1), CHECK_LIFETIME + 1)).toBeUndefined();
});

test('the newest checks are kept', () => {
  const checks = new PendingChecks();
  for (let i = 0; i <= PENDING_CHECKS; i++) checks.add(id(i), routeTo(i), 0);
  expect(checks.answered(id(0), 0)).toBeUndefined();
  expect(checks.answered(id(1), 0)?.transceiver).toBe(1);
  expect(checks.answered(id(PENDING_CHECKS), 0)?.transceiver).toBe(PENDING_CHECKS);
});
