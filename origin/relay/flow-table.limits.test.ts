import { expect, test } from 'vitest';
import { YIELD_AFTER } from './flow-owners.ts';
import { FLOW_LIMITS, MAX_FLOWS, flowMemory, type FlowLimits } from './flow-memory.ts';
import {
  ask,
  client,
  lookUp,
  moment,
  portsOf,
  prove,
  routeOf,
  smallTable,
  token,
} from './testing/flows.ts';
import { transactionId } from './testing/packets.ts';

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

test('of a source with too many, the tentative flow that waited longest yields, in its time', () => {
  const table = smallTable({ maxTentativePerSource: 2 });
  prove(table, client(1), 5, 0);
  for (const port of [2, 3]) ask(table, client(port), 5, port);
  ask(table, client(9, '192.0.2.2'), 5, 0);
  expect(ask(table, client(4), 5, 2 + YIELD_AFTER - 1).refusal).toBe('tentative-limit');

  expect(ask(table, client(4), 5, 2 + YIELD_AFTER).refusal).toBeUndefined();

  expect(portsOf(table, [1, 2, 3, 4], 400)).toEqual([1, 3, 4]);
  expect(table.find(client(9, '192.0.2.2'), 0, 400)).toBe(true);
  expect([table.proven, table.tentative, table.evicted]).toEqual([1, 3, 1]);
});

test('a client gets through beside a flood from its address, with many tokens', () => {
  const table = smallTable({ maxFlows: 5_000 });
  // 20 checks a millisecond, each of a new port; and one of the client in 50 ms, anywhere among them.
  let wins = 0;
  let asked: { at: number; answer: () => unknown } | undefined;
  for (let i = 0; i < 200_000; i++) {
    const now = i / 20;
    ask(table, client(1_024 + (i % 60_000)), i % 10_000, now);
    if (asked && now >= asked.at + 100) {
      if (asked.answer() === 'proven') wins++;
      asked = undefined;
    }
    if (asked || i % 1_000 !== (Math.floor(i / 1_000) * 389) % 1_000) continue;
    const id = transactionId();
    const of = client(1 + wins);
    table.check(of, 0, routeOf(10_001), token(10_001), id, now);
    asked = { at: now, answer: () => table.answer(of, 0, id, moment(now + 100)) };
  }
  expect(wins).toBeGreaterThan(0);
  expect(table.tentative).toBeLessThanOrEqual(FLOW_LIMITS.maxTentativePerSource);
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

test('a token sent from everywhere does not keep its owner out, whether it is answered or not', () => {
  for (const answered of [false, true]) {
    const table = smallTable({ maxFlows: 2_000 });
    const { maxPerToken } = FLOW_LIMITS;
    const last = 1_000;
    for (let i = 0; i <= last; i++) {
      const stranger = client(7, `198.51.${i >> 8}.${i & 0xff}`);
      if (answered) prove(table, stranger, 5, i);
      else ask(table, stranger, 5, i);
    }
    expect(table.proven + table.tentative).toBe(maxPerToken);

    const later = last + YIELD_AFTER;
    expect(ask(table, client(1), 5, later).answer()).toBe('proven');
    expect(table.proven + table.tentative).toBe(maxPerToken);
  }
});

test('no flow with media on it yields to others of its token, and tentative ones yield first', () => {
  const table = smallTable({ maxPerToken: 3 });
  const touch = (port: number, now: number): void => {
    if (table.find(client(port), 0, now)) table.touch(now);
  };
  for (const port of [1, 2]) prove(table, client(port), 5, 0);
  ask(table, client(3), 5, 100);
  touch(1, 500);

  expect(ask(table, client(4), 5, 500).answer()).toBe('proven');
  expect(portsOf(table, [1, 2, 3, 4], 500)).toEqual([1, 2, 4]);
  expect(ask(table, client(5), 5, 500).answer()).toBe('proven');
  expect(portsOf(table, [1, 2, 4, 5], 500)).toEqual([1, 4, 5]);
  expect(ask(table, client(6), 5, 500).refusal).toBe('token-limit');
});

test('silent flows of a token are found behind ones that are not', () => {
  const table = smallTable({ maxPerToken: 20 });
  for (let port = 1; port <= 20; port++) prove(table, client(port), 5, 0);
  for (let port = 1; port <= 19; port++) if (table.find(client(port), 0, 900)) table.touch(900);
  const refusals = Array.from({ length: 5 }, () => ask(table, client(99), 5, 1_000).refusal);
  expect(refusals).toContain(undefined);
  expect(portsOf(table, [19, 20, 99], 1_000)).toEqual([19, 99]);
});

test('a tentative flow counts for the token it has now', () => {
  const table = smallTable({ maxPerToken: 1 });
  ask(table, client(1), 5, 1000);
  ask(table, client(1), 6, 1000);
  expect(ask(table, client(2), 5, 1000).refusal).toBeUndefined();
  // In the next turn, when the flow may change tokens again.
  expect(ask(table, client(1), 5, 1030).refusal).toBe('token-limit');
  expect(lookUp(table, client(1), 1030)).toMatchObject({ transceiver: 6 });
});

test('flows that change to a token count for its limit, too', () => {
  const table = smallTable({ maxPerToken: 2 });
  const renew = (port: number, now: number): unknown => {
    prove(table, client(port), 5, now);
    const id = transactionId();
    table.check(client(port), 0, routeOf(5), token(6), id, now);
    return table.answer(client(port), 0, id, moment(now));
  };
  expect([1, 2, 3].map((port) => renew(port, 0))).toEqual(['renewed', 'renewed', undefined]);
  expect(lookUp(table, client(3), 0, 5)).toMatchObject({ hasToken: true });

  expect(renew(4, YIELD_AFTER)).toBe('renewed');
  expect([1, 2, 3, 4].map((port) => lookUp(table, client(port), YIELD_AFTER, 6)?.hasToken)).toEqual(
    [undefined, true, false, true],
  );
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
