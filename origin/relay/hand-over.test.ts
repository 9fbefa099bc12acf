import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import { UfragCodec } from '../../protocol/ufrag.ts';
import { dumpFlows } from './flow-dump.ts';
import { flowMemory, type FlowMemory } from './flow-memory.ts';
import { FlowTable } from './flow-table.ts';
import { streamFlows, takeFlows } from './hand-over.ts';
import { steadyNow } from './moment.ts';
import { HOUR, KEY, ufragFor } from './testing/rig.ts';
import { client } from './testing/flows.ts';

const FLOWS = 10_000;

function fill(memory: FlowMemory, count: number, key = KEY): void {
  const table = new FlowTable(memory);
  const now = Date.now();
  const codec = new UfragCodec([key]);
  for (let port = 1; port <= count; port++) {
    const token = Buffer.from(ufragFor(1, port, now + HOUR, key));
    const opened = codec.open(token, now);
    if (opened.ok) table.restore(client(port), 0, opened.route, token, steadyNow());
  }
}

/** @returns The base URL of a server of that body. */
async function serveBody(body: () => ReadableStream<Uint8Array> | Uint8Array, status = 200) {
  const app = new Hono();
  app.get('/flows', () => new Response(body(), { status }));
  const { promise, resolve } = Promise.withResolvers<number>();
  const server = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }, ({ port }) =>
    resolve(port),
  );
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${await promise}`;
}

test('all proven flows are taken over, with their routes', async () => {
  const from = flowMemory();
  fill(from, FLOWS);
  const url = await serveBody(() => streamFlows(from));
  const to = flowMemory();
  expect(await takeFlows(url, to, [KEY])).toBe(FLOWS);
  const names = async (memory: FlowMemory): Promise<string[]> =>
    (await dumpFlows(memory, { limit: FLOWS }))
      .map(
        (flow) => `${flow.client} ${flow.proxy} ${flow.cluster}/${flow.transceiver} ${flow.state}`,
      )
      .toSorted();
  expect(await names(to)).toEqual(await names(from));
  expect(await takeFlows(url, to, [KEY])).toBe(0);
});

test('a relay without flows hands over none', async () => {
  const url = await serveBody(() => streamFlows(flowMemory()));
  expect(await takeFlows(url, flowMemory(), [KEY])).toBe(0);
});

test('flows of other keys, and bytes that are no flows, are left out', async () => {
  const from = flowMemory();
  fill(from, 10, { id: 'B', key: Buffer.alloc(16, 'other') });
  expect(await takeFlows(await serveBody(() => streamFlows(from)), flowMemory(), [KEY])).toBe(0);
  const noise = await serveBody(() => Buffer.alloc(1_000, 'noise'));
  expect(await takeFlows(noise, flowMemory(), [KEY])).toBe(0);
});

test('one that hangs before or amidst its flows is given up, and what came by then is kept', async () => {
  const from = flowMemory();
  fill(from, 10);
  const silent = createServer(() => {}).listen(0, '127.0.0.1');
  await once(silent, 'listening');
  onTestFinished(() => silent.closeAllConnections());
  onTestFinished(() => void silent.close());
  const address = silent.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  const before = takeFlows(`http://127.0.0.1:${address.port}`, flowMemory(), [KEY], 50);
  await expect(before).rejects.toThrow('gave nothing for 50 ms');

  const records = await new Response(streamFlows(from)).bytes();
  const hanging = await serveBody(
    () => new ReadableStream({ start: (controller) => controller.enqueue(records) }),
  );
  const to = flowMemory();
  await expect(takeFlows(hanging, to, [KEY], 1_000)).rejects.toThrow('gave nothing for 1000 ms');
  expect(new FlowTable(to).handedOver).toBe(10);
});

test('what does not hand over is an error', async () => {
  const refusing = await serveBody(() => new Uint8Array(), 404);
  await expect(takeFlows(refusing, flowMemory(), [KEY])).rejects.toThrow('answered 404');
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no port');
  const gone = takeFlows(`http://127.0.0.1:${address.port}`, flowMemory(), [KEY]);
  await expect(gone).rejects.toThrow('fetch failed');
});
