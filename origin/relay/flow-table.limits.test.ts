import { expect, test } from 'vitest';
import { FLOW_LIMITS, MAX_FLOWS, flowMemory, type FlowLimits } from './flow-memory.ts';
import { ask, client, lookUp, portsOf, prove, smallTable } from './testing/flows.ts';

test('a full table forgets the flow that was idle longest', () => {
  const table = smallTable({ maxFlows: 3 });
  for (const port of [1, 2, 3]) prove(table, client(port), 5, port);
  if (table.find(client(1), 0, 10)) table.touch(10);

  prove(table, client(4), 5, 11);

  expect(portsOf(table, [1, 2, 3, 4], 11)).toEqual([1, 3, 4]);
  expect([table.proven, table.evicted]).toEqual([3, 1]);
});

test('tentative flows make room for each other and leave proven ones alone', () => {
  const table = smallTable({ maxTentative: 2 });
  prove(table, client(1), 5, 0);
  for (const port of [2, 3, 4]) ask(table, client(port), 5, 0);

  expect(portsOf(table, [1, 2, 3, 4], 0)).toEqual([1, 3, 4]);
  expect([table.proven, table.tentative, table.evicted]).toEqual([1, 2, 1]);
});

test('a table full of tentative flows takes one more all the same', () => {
  const table = smallTable({ maxFlows: 2 });
  for (const port of [1, 2, 3]) ask(table, client(port), 5, 0);
  expect(portsOf(table, [1, 2, 3], 0)).toEqual([2, 3]);
});

test.each([
  ['192.0.2.1', '192.0.2.1', '192.0.2.2'],
  ['2001:db8::1', '2001:db8::ffff:0:0:1', '2001:db8:0:1::1'],
])('%s and %s share a limit of tentative flows, %s does not', (first, same, other) => {
  const table = smallTable({ maxTentativePerSource: 2, tentative: 10 });
  const { answer } = ask(table, client(1, first), 5, 0);
  expect(ask(table, client(2, same), 5, 0).refusal).toBeUndefined();
  expect(ask(table, client(3, same), 5, 0).refusal).toBe('tentative-limit');
  expect(ask(table, client(3, other), 5, 0).refusal).toBeUndefined();

  answer(5);
  expect(ask(table, client(3, same), 5, 5).refusal).toBeUndefined();
  expect(ask(table, client(4, same), 5, 5).refusal).toBe('tentative-limit');

  table.expire(15);
  expect(ask(table, client(4, same), 5, 15).refusal).toBeUndefined();
});

test('one token has so many flows and no more, proven or not, until some end', () => {
  const table = smallTable({ maxPerToken: 3, idle: 100, tentative: 50 });
  prove(table, client(1), 5, 0);
  prove(table, client(2, '198.51.100.1'), 5, 0);
  ask(table, client(3, '198.51.100.2'), 5, 0);
  expect(ask(table, client(4, '198.51.100.3'), 5, 0).refusal).toBe('token-limit');
  expect(ask(table, client(4, '198.51.100.3'), 6, 0).refusal).toBeUndefined();
  expect(ask(table, client(1), 5, 0).refusal).toBeUndefined();

  table.expire(50);
  expect(ask(table, client(5), 5, 50).refusal).toBeUndefined();
});

test('a tentative flow counts for the token it has now', () => {
  const table = smallTable({ maxPerToken: 1 });
  ask(table, client(1), 5, 0);
  ask(table, client(1), 6, 0);
  expect(ask(table, client(2), 5, 0).refusal).toBeUndefined();
  expect(ask(table, client(1), 5, 0).refusal).toBe('token-limit');
  expect(lookUp(table, client(1), 0)).toMatchObject({ transceiver: 6 });
});

test.each<[keyof FlowLimits, number]>([
  ['maxFlows', 0],
  ['maxFlows', MAX_FLOWS + 1],
  ['maxTentative', 0],
  ['idle', 2 ** 31],
  ['tentative', 0.5],
  ['tokenQuiet', -1],
])('a limit %s of %d is refused', (name, value) => {
  expect(() => flowMemory({ ...FLOW_LIMITS, [name]: value })).toThrow(`${name} must be`);
});
