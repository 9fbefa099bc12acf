import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { startOneBox, type OneBox } from './one-box.ts';
import { RedisServer } from './redis/testing/redis-server.ts';
import { parseRegionConfig, type RegionConfigInput } from './region-config.ts';

const ANY_PORT = { address: '127.0.0.1', port: 0 };

async function openBox(redis?: string): Promise<OneBox> {
  const config: RegionConfigInput = {
    region: 'eu-central-1',
    cluster: 1,
    relay: { listeners: [ANY_PORT], trunk: ANY_PORT },
    peers: ['127.0.0.0/8'],
    routes: [],
    routingKeys: `A:${Buffer.alloc(16, 'routing').toString('base64')}`,
    signingKey: Buffer.alloc(32, 'signing').toString('base64'),
    signaling: ANY_PORT,
    admin: ANY_PORT,
    edge: 'http://127.0.0.1:1',
    transceivers: [{ id: 1, trunk: ANY_PORT }],
    redis,
  };
  const box = await startOneBox(
    parseRegionConfig(JSON.stringify(config)),
    pino({ level: 'silent' }),
  );
  onTestFinished(() => box.close());
  return box;
}

test('a region keeps its flows in the Redis it is given, also once its relay is started anew', async () => {
  const server = await RedisServer.started();
  const box = await openBox(server.url);
  expect(box.relayCounters().recovery?.writes).toEqual({ queued: 0, written: 0, failed: 0 });
  await box.restartRelay();
  expect(box.relayCounters().recovery).toBeDefined();
});

test('a region whose Redis is not there starts and ends as any other', async () => {
  const box = await openBox((await RedisServer.onFreePort()).url);
  await box.restartRelay();
  expect(box.relayCounters().recovery?.writes.written).toBe(0);
});

test('a region without a Redis keeps its flows in memory', async () => {
  const box = await openBox();
  expect(box.relayCounters().recovery).toBeUndefined();
});

test('a region that closes before the edge is there stops joining', async () => {
  const box = await openBox();
  const joining = box.join();
  await box.close();
  await expect(joining).resolves.toBeUndefined();
});

test('a region shows its relay, started anew as well, and each of its transceivers', async () => {
  const box = await openBox();
  const { address, port } = box.addresses.admin;
  const ask = (path: string) => fetch(`http://${address}:${port}${path}`);
  const metricsOf = async (path: string) => (await ask(`${path}/metrics`)).text();
  expect(await metricsOf('')).toContain('relay_ready 1');
  await box.restartRelay();
  expect(await metricsOf('')).toContain('relay_flows{state="proven"} 0');
  expect(await metricsOf('/transceivers/1')).toContain('transceiver_capacity 200');
  expect(await (await ask('/transceivers/1/dump')).json()).toMatchObject({
    config: { region: 'eu-central-1', cluster: 1, id: 1 },
    transceiver: { sessions: [] },
  });
  expect((await ask('/transceivers/2/metrics')).status).toBe(404);
  expect(await (await ask('/dump')).text()).not.toContain('routingKeys');
});
