import { expect, test } from 'vitest';
import { ADDRESS_LENGTH } from '../../protocol/address.ts';
import { TRUNK_CLIENT, TRUNK_CLIENT_PORT } from '../../protocol/trunk.ts';
import { BYTES_PER_FLOW, FLOW_LIMITS, flowMemory } from './flow-memory.ts';
import { SWEEP_ROUND } from './flow-sweep.ts';
import { FlowTable } from './flow-table.ts';
import { client, routeOf, token } from './testing/flows.ts';

const HEADER = client(1);
const TOKEN = token(0);

const MILLION = 1_000_000;
/** Bytes beside the flows: counters of sources and tokens, and heads of their lists. */
const FIXED = 8 * 1024 * 1024;

/** The header of one of a million clients: many ports of some addresses, as with carriers' NATs. */
function clientOf(i: number): Buffer {
  HEADER.writeUInt16BE(i & 0xffff, TRUNK_CLIENT_PORT);
  HEADER[TRUNK_CLIENT + ADDRESS_LENGTH - 1] = i >>> 16;
  return HEADER;
}

function tokenOf(i: number): Buffer {
  TOKEN.writeUInt32BE(i);
  return TOKEN;
}

test('a million flows are found, and end, in memory that was known before', () => {
  const memory = flowMemory({ ...FLOW_LIMITS, maxFlows: MILLION });
  const table = new FlowTable(memory);
  const { control, lines, flows, sources, tokens } = memory;
  const parts = [control, lines, flows, sources.counts, sources.lists, tokens.counts, tokens.lists];
  const bytes = parts.reduce((sum, { byteLength }) => sum + byteLength, 0);
  expect(bytes).toBeLessThan(MILLION * BYTES_PER_FLOW + FIXED);

  for (let i = 0; i < MILLION; i++) table.restore(clientOf(i), 0, routeOf(i), tokenOf(i), 0);
  let found = 0;
  for (let i = 0; i < MILLION; i++) {
    if (table.find(clientOf(i), 0, 1, tokenOf(i)) && table.found.hasToken) found++;
  }
  // Once in some million flows more than 16 want to share a line.
  expect(found).toBeGreaterThan(MILLION - 50);
  expect(table.proven).toBe(found);
  expect(table.evicted).toBe(MILLION - found);

  const from = FLOW_LIMITS.idle - SWEEP_ROUND;
  for (let now = from; now <= FLOW_LIMITS.idle + SWEEP_ROUND; now += 100) table.expire(now);
  expect([table.proven, table.expired]).toEqual([0, found]);
}, 300_000);
