import { Hono } from 'hono';
import { expect, test } from 'vitest';
import { serveHttp } from './http-server.ts';

const LOOPBACK = { address: '127.0.0.1', port: 0 };

test('a request under way is answered before the server has closed, and none after', async () => {
  const app = new Hono();
  const started = Promise.withResolvers<void>();
  const go = Promise.withResolvers<void>();
  app.get('/', async (c) => {
    started.resolve();
    await go.promise;
    return c.text('done');
  });
  const server = await serveHttp(app.fetch, LOOPBACK, 'test');
  const url = `http://${server.address.address}:${server.address.port}/`;
  const answer = fetch(url);
  await started.promise;
  const closed = server.close();
  go.resolve();
  expect(await (await answer).text()).toBe('done');
  await closed;
  await expect(fetch(url)).rejects.toThrow('fetch failed');
});

test('a request that never ends does not keep the server', async () => {
  const app = new Hono();
  const started = Promise.withResolvers<void>();
  app.get('/', () => {
    started.resolve();
    return new Promise<Response>(() => undefined);
  });
  const server = await serveHttp(app.fetch, LOOPBACK, 'test');
  const url = `http://${server.address.address}:${server.address.port}/`;
  const failed = fetch(url).catch((error: unknown) => error);
  await started.promise;
  await server.close();
  expect(await failed).toMatchObject({ message: 'fetch failed' });
});

test('an address that the machine does not have is named, and what to do', async () => {
  const foreign = { address: '192.0.2.1', port: 0 };
  await expect(serveHttp(new Hono().fetch, foreign, 'test')).rejects.toThrow(
    'Cannot bind TCP 192.0.2.1 port 0: this machine does not have the address',
  );
});
