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

/** A server that seems to be a Redis and then sends that, each time it is asked anything. */
async function openLiar(lie: string) {
  const info = 'redis_version:8.0.0\r\nloading:0\r\n';
  const life = { lies: 0, connections: 0 };
  const server = createServer((socket) => {
    life.connections++;
    socket.on('error', () => undefined);
    socket.on('data', (asked) => {
      if (/info/i.test(asked.toString('latin1'))) {
        socket.write(`$${info.length}\r\n${info}\r\n`);
      } else {
        life.lies++;
        socket.write(lie);
      }
    });
  }).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('It has no port.');
  return { url: `redis://127.0.0.1:${address.port}`, life };
}

// An error that nobody catches would fail the run.
it.each([
  ['a push of nothing', '>1\r\n_\r\n'],
  ['a push of a subscription to nothing', '>1\r\n$9\r\nsubscribe\r\n'],
  ['a message for no channel', '>3\r\n$9\r\nsubscribe\r\n$1\r\nx\r\n:1\r\n>1\r\n$7\r\nmessage\r\n'],
  [
    'an array of nothing, once subscribed',
    '>3\r\n$9\r\nsubscribe\r\n$1\r\nx\r\n:1\r\n*1\r\n$-1\r\n',
  ],
  ['an array that is too long', '*99999999999\r\n'],
  ['arrays in arrays', '*1\r\n'.repeat(50_000)],
  ['a map', '%1\r\n_\r\n_\r\n'],
  ['bytes of no type', '\0\xff\r\n'],
  ['more replies than requests', '+OK\r\n'.repeat(10)],
])('lives on beside a Redis that sends %s', async (_, lie) => {
  const { url, life } = await openLiar(lie);
  const { redis, ping } = guard(url);
  await vi.waitFor(async () => {
    await ping();
    expect(life.lies).toBeGreaterThan(2);
  }, WAIT);
  redis.close();
  expect(await ping()).toBe(NO_ANSWER);
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
