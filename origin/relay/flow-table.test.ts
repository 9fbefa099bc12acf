import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { FLOW_LIMITS, FlowTable, type FlowLimits } from './flow-table.ts';
import type { Flow, FlowRoute } from './flow.ts';
import { makeFrame, type Frame } from './testing/packets.ts';

const ROUTE: FlowRoute = {
  ufrag: Buffer.from('A'.repeat(23)),
  cluster: 1,
  transceiver: 5,
  expiresAt: Number.MAX_SAFE_INTEGER,
};

function header(fields: Partial<Frame> = {}): Buffer {
  return makeFrame({
    flags: 0,
    listener: 0,
    client: { address: '192.0.2.1', port: 1000 },
    proxy: { address: '10.0.0.1', port: 4000 },
    payload: Buffer.from('x'),
    ...fields,
  });
}

function client(port: number, address = '192.0.2.1'): Buffer {
  return header({ client: { address, port } });
}

function tableWith(limits: Partial<FlowLimits> = {}): FlowTable {
  return new FlowTable({ ...FLOW_LIMITS, maxFlows: 100, ...limits });
}

function openProven(table: FlowTable, of: Buffer, now = 0): Flow {
  const flow = table.open(of, 0, ROUTE, now)!;
  table.prove(flow, now);
  return flow;
}

test.each<[string, Partial<Frame>]>([
  ['client address', { client: { address: '192.0.2.2', port: 1000 } }],
  ['client port', { client: { address: '192.0.2.1', port: 1001 } }],
  ['proxy address', { proxy: { address: '10.0.0.2', port: 4000 } }],
  ['proxy port', { proxy: { address: '10.0.0.1', port: 4001 } }],
  ['listener', { listener: 1 }],
])('flows differ by their %s', (_name, fields) => {
  const table = tableWith();
  const flow = table.open(header(), 0, ROUTE, 0);
  expect(table.find(header(), 0)).toBe(flow);
  expect(table.find(header(fields), 0)).toBeUndefined();
});

test('flags and length of a frame do not tell flows apart', () => {
  const table = tableWith();
  const flow = table.open(header(), 0, ROUTE, 0);
  const other = Buffer.concat([Buffer.alloc(7), header({ flags: 3, payload: Buffer.alloc(100) })]);
  expect(table.find(other, 7)).toBe(flow);
});

test('a flow keeps its own copy of the header', () => {
  const table = tableWith();
  const slab = header();
  const flow = table.open(slab, 0, ROUTE, 0);
  slab.fill(0);
  expect(table.find(header(), 0)).toBe(flow);
});

test('a proven flow lives on while it is touched, a tentative one has its time', () => {
  const table = tableWith({ idle: 100, tentative: 10 });
  const proven = openProven(table, client(1));
  const tentative = table.open(client(2), 0, ROUTE, 0)!;

  for (const now of [9, 99, 198]) {
    table.touch(proven, now);
    table.touch(tentative, now);
    table.expire(now);
    expect(table.find(client(1), 0)).toBe(proven);
  }
  expect(table.find(client(2), 0)).toBeUndefined();
  expect([table.proven, table.tentative, table.expired]).toEqual([1, 0, 1]);

  table.expire(298);
  expect(table.find(client(1), 0)).toBeUndefined();
  expect([table.proven, table.tentative, table.expired]).toEqual([0, 0, 2]);
});

test('a full table forgets the flow that was idle longest', () => {
  const table = tableWith({ maxFlows: 3 });
  const flows = [1, 2, 3].map((port) => openProven(table, client(port), port));
  table.touch(flows[0]!, 10);

  openProven(table, client(4), 11);

  expect([1, 2, 3, 4].filter((port) => table.find(client(port), 0))).toEqual([1, 3, 4]);
  expect([table.proven, table.evicted]).toEqual([3, 1]);
});

test('tentative flows make room for each other and leave proven ones alone', () => {
  const table = tableWith({ maxTentative: 2 });
  openProven(table, client(1));
  for (const port of [2, 3, 4]) table.open(client(port), 0, ROUTE, 0);

  expect([1, 2, 3, 4].filter((port) => table.find(client(port), 0))).toEqual([1, 3, 4]);
  expect([table.proven, table.tentative, table.evicted]).toEqual([1, 2, 1]);
});

test.each([
  ['192.0.2.1', '192.0.2.1', '192.0.2.2'],
  ['2001:db8::1', '2001:db8::ffff:0:0:1', '2001:db8:0:1::1'],
])('%s and %s share a limit of tentative flows, %s does not', (first, same, other) => {
  const table = tableWith({ maxTentativePerSource: 2, tentative: 10 });
  const flow = table.open(client(1, first), 0, ROUTE, 0)!;
  expect(table.open(client(2, same), 0, ROUTE, 0)).toBeDefined();
  expect(table.open(client(3, same), 0, ROUTE, 0)).toBeUndefined();
  expect(table.open(client(3, other), 0, ROUTE, 0)).toBeDefined();

  table.prove(flow, 5);
  expect(table.open(client(3, same), 0, ROUTE, 5)).toBeDefined();
  expect(table.open(client(4, same), 0, ROUTE, 5)).toBeUndefined();

  table.expire(15);
  expect(table.open(client(4, same), 0, ROUTE, 15)).toBeDefined();
});

test('whatever happens, the table agrees with a plain list of what it should hold', () => {
  const port = fc.integer({ min: 1, max: 12 });
  const step = fc.record({
    action: fc.constantFrom('open', 'prove', 'touch'),
    port,
    wait: fc.nat(30),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 100 }), (steps) => {
      const table = tableWith({ maxFlows: 1000, idle: 100, tentative: 40 });
      const model = new Map<number, { proven: boolean; seenAt: number }>();
      let now = 0;
      for (const { action, port: at, wait } of steps) {
        now += wait;
        table.expire(now);
        for (const [key, { proven, seenAt }] of model) {
          if (seenAt + (proven ? 100 : 40) <= now) model.delete(key);
        }
        const flow = table.find(client(at), 0);
        const expected = model.get(at);
        expect(flow && { proven: flow.proven, seenAt: flow.seenAt }).toEqual(expected);
        if (action === 'open' && !flow) {
          table.open(client(at), 0, ROUTE, now);
          model.set(at, { proven: false, seenAt: now });
        } else if (action === 'prove' && flow) {
          table.prove(flow, now);
          model.set(at, { proven: true, seenAt: now });
        } else if (action === 'touch' && flow) {
          table.touch(flow, now);
          if (flow.proven) model.set(at, { proven: true, seenAt: now });
        }
      }
      expect(table.proven + table.tentative).toBe(model.size);
    }),
  );
});
