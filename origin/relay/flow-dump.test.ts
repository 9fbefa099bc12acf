import { expect, test } from 'vitest';
import { parseAddress } from '../../protocol/address.ts';
import { dumpFlows } from './flow-dump.ts';
import { flowMemory } from './flow-memory.ts';
import { FlowTable } from './flow-table.ts';
import { steadyNow } from './moment.ts';
import { HOUR } from './testing/rig.ts';
import { client, token } from './testing/flows.ts';

const EXPIRES_AT = 1_000 * Math.ceil((Date.now() + HOUR) / 1_000);
const ROUTE = { cluster: 3, transceiver: 7, expiresAt: EXPIRES_AT };

function tableOf(ports: number, now: number) {
  const memory = flowMemory();
  const table = new FlowTable(memory);
  for (let port = 1; port <= ports; port++) {
    table.restore(client(port), 0, ROUTE, token(port), now - 1000 * port);
  }
  return { memory, table };
}

test('shows the newest flows first, and no more than asked for', async () => {
  const { memory } = tableOf(9, steadyNow());
  const flows = await dumpFlows(memory, { limit: 3 });
  expect(flows.map(({ client: name }) => name.split(':').at(-1))).toEqual(['1', '2', '3']);
  expect(flows[0]).toMatchObject({
    cluster: 3,
    transceiver: 7,
    state: 'proven',
    expiresAt: new Date(EXPIRES_AT).toISOString(),
  });
  expect(flows[2]!.ageMs).toBeGreaterThanOrEqual(3_000);
});

test('shows the flows of one client address', async () => {
  const { memory } = tableOf(5, steadyNow());
  const [first] = await dumpFlows(memory, { limit: 1 });
  const address = first!.client.slice(0, first!.client.lastIndexOf(':'));
  const mine = await dumpFlows(memory, { limit: 9, client: parseAddress(address) });
  expect(mine).toHaveLength(5);
  expect(await dumpFlows(memory, { limit: 9, client: parseAddress('2001:db8::9') })).toEqual([]);
  expect(await dumpFlows(memory, { limit: 0 })).toEqual([]);
});

test('shows no flow whose time is over', async () => {
  const { memory } = tableOf(5, steadyNow() - memoryIdle());
  expect(await dumpFlows(memory, { limit: 9 })).toEqual([]);
});

function memoryIdle(): number {
  return flowMemory().limits.idle;
}
