import { Redis } from 'ioredis';
import { pino } from 'pino';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { TrunkAddress } from '../protocol/footprint.ts';
import type { DirectoryListener } from './directory.ts';
import { announceTransceiver } from './announcement.ts';
import { FORGET_AFTER, READ_INTERVAL, RedisDirectory } from './redis-directory.ts';
import { GuardedRedis } from './redis/guarded-redis.ts';
import { RedisServer } from './redis/testing/redis-server.ts';
import { TransceiverRecords } from './transceiver-record.ts';

/** Conditions are waited for, however slow the machine. */
vi.setConfig({ testTimeout: 120_000 });

const CLUSTER = 2;
const KEY = { id: 'A', key: Buffer.alloc(16, 'directory') };
const SILENT = pino({ level: 'silent' });
const SEVEN: TrunkAddress = { address: '10.0.0.7', port: 4000 };
const EIGHT: TrunkAddress = { address: '10.0.0.8', port: 4000 };

function connect(server: RedisServer): GuardedRedis {
  const redis = new GuardedRedis({ url: server.url, log: SILENT });
  onTestFinished(() => redis.close());
  return redis;
}

function announce(server: RedisServer, transceiver: number, trunk: TrunkAddress, key = KEY) {
  const redis = connect(server);
  const announcement = announceTransceiver({
    redis,
    cluster: CLUSTER,
    routingKeys: [key],
    transceiver,
    trunk,
    log: SILENT,
  });
  onTestFinished(() => announcement.close());
  return announcement;
}

/** A directory, what a watcher has learnt from it, and each change it was told. */
function openDirectory(server: RedisServer) {
  const warnings: { transceiver?: number }[] = [];
  const log = pino({ level: 'warn' }, { write: (line) => warnings.push(JSON.parse(line)) });
  const redis = connect(server);
  const directory = new RedisDirectory({ redis, cluster: CLUSTER, routingKeys: [KEY], log });
  onTestFinished(() => directory.close());
  const known = new Map<number, TrunkAddress>();
  const changes: [number, TrunkAddress | undefined][] = [];
  directory.watch((transceiver, trunk) => {
    changes.push([transceiver, trunk]);
    if (trunk) known.set(transceiver, trunk);
    else known.delete(transceiver);
  });
  /** Waits until Redis has been read so many times more. */
  const reads = async (times: number) => {
    const { answered } = redis.counters();
    await eventually(() =>
      expect(redis.counters().answered).toBeGreaterThanOrEqual(answered + times),
    );
  };
  return { directory, redis, known, changes, warnings, reads };
}

function eventually(condition: () => void): Promise<void> {
  return vi.waitFor(condition, { timeout: 60_000, interval: 10 });
}

describe('A directory in Redis', () => {
  it('tells of the transceivers that announce themselves, once each', async () => {
    const server = await RedisServer.started();
    const { directory, changes, known, reads } = openDirectory(server);
    await announce(server, 7, SEVEN).announced;
    await announce(server, 8, EIGHT).announced;
    await eventually(() =>
      expect(known).toEqual(
        new Map([
          [7, SEVEN],
          [8, EIGHT],
        ]),
      ),
    );
    await reads(2);
    expect(changes).toHaveLength(2);

    const late = vi.fn<DirectoryListener>();
    directory.watch(late);
    expect(late).toHaveBeenCalledTimes(2);
    expect(late).toHaveBeenCalledWith(7, SEVEN);
    expect(late).toHaveBeenCalledWith(8, EIGHT);
  });

  it('tells when a transceiver is elsewhere', async () => {
    const server = await RedisServer.started();
    const { known } = openDirectory(server);
    const first = announce(server, 7, SEVEN);
    await eventually(() => expect(known).toEqual(new Map([[7, SEVEN]])));
    await first.close();
    announce(server, 7, EIGHT);
    await eventually(() => expect(known).toEqual(new Map([[7, EIGHT]])));
  });

  it('keeps what the successor of a transceiver announced before that one ended', async () => {
    const server = await RedisServer.started();
    const { known } = openDirectory(server);
    const first = announce(server, 7, SEVEN);
    await eventually(() => expect(known).toEqual(new Map([[7, SEVEN]])));
    await announce(server, 7, EIGHT).announced;
    await first.close();
    await eventually(() => expect(known).toEqual(new Map([[7, EIGHT]])));
  });

  it('tells when a transceiver is gone', async () => {
    const server = await RedisServer.started();
    const { changes, known } = openDirectory(server);
    const announcement = announce(server, 7, SEVEN);
    announce(server, 8, EIGHT);
    await eventually(() =>
      expect(known).toEqual(
        new Map([
          [7, SEVEN],
          [8, EIGHT],
        ]),
      ),
    );
    await announcement.close();
    await eventually(() => expect(known).toEqual(new Map([[8, EIGHT]])));
    expect(changes.at(-1)).toEqual([7, undefined]);
  });

  it('stays as it was while Redis knows of no transceiver at all', async () => {
    const server = await RedisServer.started();
    const { changes, known, reads } = openDirectory(server);
    const announcement = announce(server, 7, SEVEN);
    await eventually(() => expect(known).toEqual(new Map([[7, SEVEN]])));
    await announcement.close();
    await reads(Math.ceil(FORGET_AFTER / READ_INTERVAL) + 2);
    expect(changes).toHaveLength(1);
  });

  it('lives apart from the directories of other clusters', async () => {
    const server = await RedisServer.started();
    const { known, reads } = openDirectory(server);
    const other = announceTransceiver({
      redis: connect(server),
      cluster: CLUSTER + 1,
      routingKeys: [KEY],
      transceiver: 7,
      trunk: SEVEN,
      log: SILENT,
    });
    onTestFinished(() => other.close());
    await other.announced;
    await reads(2);
    await eventually(() => expect(known).toEqual(new Map()));
  });

  it('stays as it was while Redis is away, and while a new one fills', async () => {
    const server = await RedisServer.started();
    const { redis, changes, known, reads } = openDirectory(server);
    announce(server, 7, SEVEN);
    await eventually(() => expect(known).toEqual(new Map([[7, SEVEN]])));
    await server.stop();
    await eventually(() => expect(redis.ready).toBe(false));
    await server.start();
    await reads(4);
    await announce(server, 8, EIGHT).announced;
    await eventually(() =>
      expect(known).toEqual(
        new Map([
          [7, SEVEN],
          [8, EIGHT],
        ]),
      ),
    );
    expect(changes).toHaveLength(2);
  });

  it('stays as it was while Redis is stopped in its tracks', async () => {
    const server = await RedisServer.started();
    const { redis, changes, known, reads } = openDirectory(server);
    announce(server, 7, SEVEN);
    await eventually(() => expect(known).toEqual(new Map([[7, SEVEN]])));
    server.pause();
    await eventually(() => expect(redis.ready).toBe(false));
    server.resume();
    await reads(2);
    expect(changes).toHaveLength(1);
  });

  it('fills when Redis comes later than all others', async () => {
    const server = await RedisServer.onFreePort();
    const { known } = openDirectory(server);
    announce(server, 7, SEVEN);
    await server.start();
    await eventually(() => expect(known).toEqual(new Map([[7, SEVEN]])));
  });

  it('takes no address that is not signed, and says so once', async () => {
    const server = await RedisServer.started();
    const { warnings, known, reads } = openDirectory(server);
    announce(server, 7, SEVEN);
    await announce(server, 8, EIGHT, { id: 'A', key: Buffer.alloc(16, 'forged') }).announced;
    await eventually(() => expect(known).toEqual(new Map([[7, SEVEN]])));
    await reads(3);
    expect(warnings.map(({ transceiver }) => transceiver)).toEqual([8]);
    await eventually(() => expect(known).toEqual(new Map([[7, SEVEN]])));
  });

  it('takes no lie for a transceiver', async () => {
    const server = await RedisServer.started();
    const { redis, changes, known, reads } = openDirectory(server);
    announce(server, 7, SEVEN);
    await eventually(() => expect(known).toEqual(new Map([[7, SEVEN]])));
    const other = new Redis(server.url, { protocol: 2 });
    onTestFinished(() => other.disconnect());
    const record = new TransceiverRecords(CLUSTER, [KEY]).seal(7, SEVEN, Date.now());
    const roster = `transceivers:${CLUSTER}`;
    const far = Number.MAX_SAFE_INTEGER;
    for (const id of ['8', '9', '10', '11', '-1', '70000', 'x'.repeat(100_000)]) {
      await other.zadd(roster, far, id);
    }
    await other.set(`transceiver:${CLUSTER}:8`, record);
    await other.set(`transceiver:${CLUSTER}:9`, 'x'.repeat(10_000_000));
    await other.rpush(`transceiver:${CLUSTER}:10`, 'x');
    await reads(3);
    expect(changes).toHaveLength(1);

    await other.set(roster, 'no set');
    await reads(3);
    expect(changes).toHaveLength(1);
    expect(redis.counters()).toMatchObject({ state: 'closed', errors: 0 });
  });
});
