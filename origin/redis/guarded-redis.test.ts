import { once } from 'node:events';
import { createServer } from 'node:net';
import { pino } from 'pino';
import { expect, it, onTestFinished, vi } from 'vitest';
import { GuardedRedis, NO_ANSWER } from './guarded-redis.ts';
import { RedisServer } from './testing/redis-server.ts';

vi.setConfig({ testTimeout: 120_000 });

const WAIT = { timeout: 60_000, interval: 10 };

/** With the warnings it logs. */
function guard(url: string) {
  const warnings: { reason: string }[] = [];
  const log = pino({ level: 'warn' }, { write: (line) => warnings.push(JSON.parse(line)) });
  const redis = new GuardedRedis({ url, log });
  onTestFinished(() => redis.close());
  const ping = () => redis.run((client) => client.ping());
  const becomes = (state: string) =>
    vi.waitFor(async () => {
      await ping();
      expect(redis.counters().state).toBe(state);
    }, WAIT);
  return { redis, ping, becomes, warnings };
}

it('asks a Redis that runs', async () => {
  const server = await RedisServer.started();
  const { redis, ping, becomes, warnings } = guard(server.url);
  await becomes('closed');
  expect(await ping()).toBe('PONG');
  expect(redis.ready).toBe(true);
  expect(warnings).toEqual([]);
});

it('waits for a Redis that is down, warns once, and says when it is there', async () => {
  const server = await RedisServer.onFreePort();
  const { redis, ping, becomes, warnings } = guard(server.url);
  const onReady = vi.fn<() => void>();
  redis.onReady(onReady);
  await vi.waitFor(() => expect(warnings).toHaveLength(1), WAIT);
  expect(await ping()).toBe(NO_ANSWER);
  expect(redis.counters()).toMatchObject({ state: 'away', answered: 0 });
  expect(redis.ready).toBe(false);
  await server.start();
  await becomes('closed');
  expect(onReady).toHaveBeenCalledOnce();
  expect(warnings).toHaveLength(1);
});

it('gives up on a Redis that is stopped in its tracks, and finds it again', async () => {
  const server = await RedisServer.started();
  const { redis, becomes, warnings } = guard(server.url);
  await becomes('closed');
  server.pause();
  await becomes('away');
  expect(redis.counters().timeouts).toBeGreaterThan(0);
  expect(warnings).toHaveLength(1);
  server.resume();
  await becomes('closed');
});

it('finds a Redis that was killed and started again', async () => {
  const server = await RedisServer.started();
  const { becomes, warnings } = guard(server.url);
  await becomes('closed');
  await server.stop();
  await becomes('away');
  await server.start();
  await becomes('closed');
  expect(warnings).toHaveLength(1);
});

it('leaves a Redis alone that answers with errors only', async () => {
  const server = await RedisServer.started();
  const { redis, becomes } = guard(server.url);
  await becomes('closed');
  await redis.run((client) => client.set('text', 'x'));
  await vi.waitFor(async () => {
    expect(await redis.run((client) => client.incr('text'))).toBe(NO_ANSWER);
    expect(redis.counters().state).toBe('open');
  }, WAIT);
  await vi.waitFor(async () => {
    await redis.run((client) => client.incr('text'));
    expect(redis.counters().shed).toBeGreaterThan(0);
  }, WAIT);
  await becomes('closed');
});

it('never rejects, whatever a request does', async () => {
  const server = await RedisServer.started();
  const { redis, becomes } = guard(server.url);
  await becomes('closed');
  const thrown = redis.run(() => {
    throw new Error('at once');
  });
  expect(await thrown).toBe(NO_ANSWER);
  expect(await redis.run(() => Promise.reject(new Error('later')))).toBe(NO_ANSWER);
});

it('lives on beside something that is no Redis', async () => {
  const garbage = Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n');
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.on('data', () => socket.write(garbage));
  }).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('It has no port.');
  const { redis, ping, warnings } = guard(`redis://127.0.0.1:${address.port}`);
  await vi.waitFor(() => expect(warnings).toHaveLength(1), WAIT);
  expect(await ping()).toBe(NO_ANSWER);
  expect(redis.ready).toBe(false);
});
