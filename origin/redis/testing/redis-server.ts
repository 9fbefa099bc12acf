/** A real redis-server that ends with its test. */
import { onTestFinished } from 'vitest';
import { freePort, RedisProcess } from './redis-process.ts';

export class RedisServer extends RedisProcess {
  /** One that does not run yet. */
  static async onFreePort(): Promise<RedisServer> {
    const server = new RedisServer(await freePort());
    onTestFinished(() => server.stop());
    return server;
  }

  /** One that runs. */
  static async started(): Promise<RedisServer> {
    const server = await RedisServer.onFreePort();
    await server.start();
    return server;
  }
}
