import { Redis } from 'ioredis';
import { pino } from 'pino';
import { expect, onTestFinished, test, vi } from 'vitest';
import { announceTransceiver } from './announcement.ts';
import { RedisOwners } from './redis-owners.ts';
import { GuardedRedis } from './redis/guarded-redis.ts';
import { RedisServer } from './redis/testing/redis-server.ts';
import { TransceiverRecords } from './transceiver-record.ts';

/** Conditions are waited for, however slow the machine. */
vi.setConfig({ testTimeout: 60_000 });

const CLUSTER = 2;
const KEY = { id: 'A', key: Buffer.alloc(16, 'owners') };
const TRUNK = { address: '10.0.0.7', port: 4_000 };
const SIGNALING = { address: '10.0.0.7', port: 8_000 };

async function open() {
  const server = await RedisServer.started();
  const log = pino({ level: 'silent' });
  const redis = new GuardedRedis({ url: server.url, log });
  onTestFinished(() => redis.close());
  const announce = (transceiver: number, signaling?: typeof SIGNALING) =>
    announceTransceiver({
      redis,
      cluster: CLUSTER,
      routingKeys: [KEY],
      transceiver,
      trunk: TRUNK,
      signaling,
      log,
    });
  return { server, announce, owners: new RedisOwners(redis, CLUSTER, [KEY]) };
}

test('a transceiver that announces its signaling is found until it withdraws, and while Redis is away', async () => {
  const { server, announce, owners } = await open();
  const announcement = announce(7, SIGNALING);
  await announcement.announced;
  expect(await owners.find(7)).toEqual(SIGNALING);
  expect(await owners.find(8)).toBe('nowhere');
  await announcement.close();
  expect(await owners.find(7)).toBe('nowhere');
  const silent = announce(9);
  await silent.announced;
  expect(await owners.find(9)).toBe('nowhere');
  await silent.close();
  const last = announce(10, SIGNALING);
  await last.announced;
  expect(await owners.find(10)).toEqual(SIGNALING);
  await server.stop();
  expect(await owners.find(7)).toBe('unknown');
  expect(await owners.find(10)).toEqual(SIGNALING);
  await last.close();
});

test('nothing that lies in Redis sends a request elsewhere', async () => {
  const { server, owners } = await open();
  const client = new Redis(server.url);
  onTestFinished(() => client.disconnect());
  const now = Date.now();
  const mine = (purpose: 'signaling' | 'transceiver', key = KEY) =>
    new TransceiverRecords(CLUSTER, [key], purpose).seal(7, SIGNALING, now);
  const put = (value: Buffer | string) => client.set('signaling:2:7', value);
  await vi.waitFor(async () => expect(await owners.find(7)).toBe('nowhere'), { timeout: 30_000 });
  for (const lie of [
    'x',
    Buffer.alloc(39),
    Buffer.alloc(1_000_000, 1),
    mine('transceiver'),
    mine('signaling', { id: 'A', key: Buffer.alloc(16, 'other') }),
    Buffer.concat([mine('signaling'), Buffer.alloc(1)]),
    new TransceiverRecords(CLUSTER, [KEY], 'signaling').seal(8, SIGNALING, now),
    new TransceiverRecords(CLUSTER, [KEY], 'signaling').seal(7, SIGNALING, now - 3_600_000),
  ]) {
    await put(lie);
    expect(await owners.find(7)).toBe('nowhere');
  }
  await put(mine('signaling'));
  expect(await owners.find(7)).toEqual(SIGNALING);
  await client.del('signaling:2:7');
  await client.rpush('signaling:2:7', 'a list');
  expect(await owners.find(7)).toEqual(SIGNALING);
});
