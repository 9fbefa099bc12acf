import { expect, test } from 'vitest';
import { client, lookUp, moment, routeOf, smallTable, token } from './testing/flows.ts';

const OWNER = 1;
const TURN = 1024;

function transaction(n: number): Buffer {
  const id = Buffer.alloc(12);
  id.writeUInt32BE(n);
  return id;
}

/**
 * Whose flow it is in the end. Once a second the owner checks and is answered a moment later; strangers
 * ask before and after that as often as they can.
 */
function winner(strangers: readonly number[], seconds: number): number | undefined {
  const table = smallTable();
  const at = client(1);
  let id = 0;
  const ask = (by: number, now: number): number => {
    table.check(at, 0, routeOf(by), token(by), transaction(++id), now);
    return id;
  };
  for (let second = 1; second <= seconds; second++) {
    const now = second * TURN;
    for (const by of strangers) ask(by, now);
    const mine = ask(OWNER, now + 1);
    for (let i = 0; i < 1000; i++) for (const by of strangers) ask(by, now + 2);
    if (table.answer(at, 0, transaction(mine), moment(now + 3)) === 'proven') break;
  }
  const flow = lookUp(table, at, seconds * TURN);
  return flow?.proven ? flow.transceiver : undefined;
}

test('strangers who ask from a client’s address cannot keep its flow from being proven', () => {
  expect(winner([2], 50)).toBe(OWNER);
  expect(winner([2, 3, 4], 59)).toBe(OWNER);
});

test('a client that takes a port over from another need not wait for its turn', () => {
  const table = smallTable();
  const at = client(1);
  table.check(at, 0, routeOf(2), token(2), transaction(1), TURN);
  table.check(at, 0, routeOf(OWNER), token(OWNER), transaction(2), TURN + 1);
  expect(table.answer(at, 0, transaction(2), moment(TURN + 2))).toBe('proven');
});
