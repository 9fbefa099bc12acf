import { Redis } from 'ioredis';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { UfragCodec } from '../../../protocol/ufrag.ts';
import { GuardedRedis } from '../../redis/guarded-redis.ts';
import { RedisServer } from '../../redis/testing/redis-server.ts';
import { FLOW_LIMITS, flowMemory, type FlowLimits } from '../flow-memory.ts';
import { FlowTable } from '../flow-table.ts';
import { Clock, steadyNow } from '../moment.ts';
import { client, header, lookUp } from '../testing/flows.ts';
import { transactionId } from '../testing/packets.ts';
import { HOUR, KEY, SILENT, eventually, ufragFor } from '../testing/rig.ts';
import { FlowRecovery } from './flow-recovery.ts';
import { flowName } from './flow-records.ts';

/** Conditions are waited for, however slow the machine. */
vi.setConfig({ testTimeout: 120_000 });

const FLOW = client(1000);
const NAME = flowName(FLOW, 0);

/** A relay's recovery and its flows. */
function openRecovery(server: RedisServer, limits: Partial<FlowLimits> = {}) {
  const flows = flowMemory({ ...FLOW_LIMITS, maxFlows: 10_000, ...limits });
  const redis = new GuardedRedis({ url: server.url, log: SILENT });
  const recovery = new FlowRecovery({ redis, routingKeys: [KEY], flows });
  onTestFinished(async () => {
    await recovery.close();
    redis.close();
  });
  const reads = () => recovery.counters().reads;
  const writes = () => recovery.counters().writes;
  return { recovery, redis, table: new FlowTable(flows), reads, writes };
}

/** What writes to Redis behind the relay's back. */
function openOther(server: RedisServer): Redis {
  const other = new Redis(server.url, { protocol: 2 });
  onTestFinished(() => other.disconnect());
  return other;
}

/** A check of a client and its answer: the flow is proven, and each time has a new token. */
function prove(relay: { table: FlowTable }, of = FLOW, ufrag = ufragFor(1, 7)): void {
  const now = new Clock().read();
  const token = Buffer.from(ufrag);
  const opened = new UfragCodec([KEY]).open(token, now.wall);
  if (!opened.ok) throw new Error('The token is not good.');
  const id = transactionId();
  relay.table.check(of, 0, opened.route, token, id, now.steady);
  relay.table.answer(of, 0, id, now);
}

async function isReady({ redis }: { redis: GuardedRedis }): Promise<void> {
  await eventually(() => expect(redis.ready).toBe(true));
}

/** To which transceiver a flow that is found goes. */
async function target(recovery: FlowRecovery, of = FLOW): Promise<number | undefined> {
  return (await recovery.find(of, 0))?.route.transceiver;
}

/** A relay whose flow’s record was changed by `lie`. */
async function openAfter(lie: (other: Redis, record: Buffer) => Promise<unknown>) {
  const server = await RedisServer.started();
  const relay = openRecovery(server);
  prove(relay);
  await eventually(async () => expect(await target(relay.recovery)).toBe(7));
  const other = openOther(server);
  await lie(other, (await other.getBuffer(NAME))!);
  return relay;
}

describe('With a Redis that is well', () => {
  it('a flow that one relay saved is found by another, behind another proxy', async () => {
    const server = await RedisServer.started();
    const one = openRecovery(server);
    const other = openRecovery(server);
    prove(one);
    const elsewhere = header({
      client: { address: '192.0.2.1', port: 1000 },
      proxy: { address: '10.0.0.2', port: 9 },
    });
    await eventually(async () => expect(await target(other.recovery, elsewhere)).toBe(7));

    const flow = await other.recovery.find(elsewhere, 0);
    expect(other.table.restore(elsewhere, 0, flow!.route, flow!.token, steadyNow())).toBe(true);
    const found = lookUp(other.table, elsewhere, steadyNow());
    expect(found).toMatchObject({ cluster: 1, transceiver: 7, proven: true });
  });

  it('the newest token of a flow is what is found', async () => {
    const server = await RedisServer.started();
    const relay = openRecovery(server, { tokenQuiet: 0 });
    prove(relay);
    prove(relay, FLOW, ufragFor(1, 8));
    await eventually(async () => expect(await target(relay.recovery)).toBe(8));
    prove(relay, FLOW, ufragFor(1, 9));
    await eventually(async () => expect(await target(relay.recovery)).toBe(9));
  });

  it('a flow that is not proven is not kept', async () => {
    const server = await RedisServer.started();
    const relay = openRecovery(server);
    const id = transactionId();
    const route = { cluster: 1, transceiver: 7, expiresAt: Date.now() + HOUR };
    relay.table.check(FLOW, 0, route, Buffer.from(ufragFor(1, 7)), id, steadyNow());
    prove(relay, client(2));
    await eventually(async () => expect(await target(relay.recovery, client(2))).toBe(7));
    expect(await openOther(server).exists(NAME)).toBe(0);
  });

  it('many flows go out and come back together', async () => {
    const server = await RedisServer.started();
    const relay = openRecovery(server);
    const flows = Array.from({ length: 1000 }, (_, i) => client(2000 + i));
    for (const of of flows) prove(relay, of);
    await eventually(() =>
      expect(relay.writes()).toMatchObject({ queued: 0, written: 1000, failed: 0 }),
    );
    const { answered } = relay.redis.counters();
    await eventually(async () => {
      const found = await Promise.all(flows.map((of) => relay.recovery.find(of, 0)));
      expect(found.every((flow) => flow?.route.transceiver === 7)).toBe(true);
    });
    expect(relay.redis.counters().answered - answered).toBeLessThan(20);
  });

  it('a flow is asked for once at a time, and not again just after it was not there', async () => {
    const server = await RedisServer.started();
    const relay = openRecovery(server);
    await isReady(relay);
    await eventually(async () => {
      expect(
        await Promise.all([relay.recovery.find(FLOW, 0), relay.recovery.find(FLOW, 0)]),
      ).toEqual([undefined, undefined]);
      expect(relay.reads().misses).toBe(1);
    });
    // A second may pass here on a slow machine, and then it is rightly asked for again.
    await eventually(async () => {
      await relay.recovery.find(FLOW, 0);
      expect(relay.reads().negative).toBeGreaterThan(0);
    });
  });

  it('a flow that was not there is found once it is saved', async () => {
    const server = await RedisServer.started();
    const relay = openRecovery(server);
    await isReady(relay);
    await eventually(async () => {
      await relay.recovery.find(FLOW, 0);
      expect(relay.reads().misses).toBeGreaterThan(0);
    });
    prove(relay);
    await eventually(() => expect(relay.writes().written).toBe(1));
    await eventually(async () => expect(await target(relay.recovery)).toBe(7));
  });

  it('a flood of strangers is asked about within bounds', async () => {
    const server = await RedisServer.started();
    const relay = openRecovery(server);
    await isReady(relay);
    const asked = Array.from({ length: 60_000 }, (_, i) =>
      relay.recovery.find(client(i, '198.51.100.9'), 0),
    );
    expect((await Promise.all(asked)).filter(Boolean)).toEqual([]);
    const { misses, failed, shed } = relay.reads();
    expect(misses + failed).toBeLessThanOrEqual(8192);
    expect(misses + failed + shed).toBe(60_000);
    prove(relay);
    await eventually(async () => expect(await target(relay.recovery)).toBe(7));
  });

  it('flows are kept as long as they live, and somewhat longer', async () => {
    const server = await RedisServer.started();
    const relay = openRecovery(server, { idle: 300 });
    const other = openOther(server);
    const token = Buffer.from(ufragFor(1, 7));
    const route = { cluster: 1, transceiver: 7, expiresAt: Date.now() + HOUR };
    relay.table.restore(FLOW, 0, route, token, steadyNow());
    await eventually(async () => expect(await other.exists(NAME)).toBe(1));
    const { written } = relay.writes();
    await eventually(() => {
      if (relay.table.find(FLOW, 0, steadyNow())) relay.table.touch(steadyNow());
      else relay.table.restore(FLOW, 0, route, token, steadyNow());
      expect(relay.writes().written).toBeGreaterThan(written + 2);
    });
    expect(await other.exists(NAME)).toBe(1);
    expect(await other.pttl(NAME)).toBeLessThanOrEqual(1600);
    await eventually(async () => expect(await other.exists(NAME)).toBe(0));
  });

  it('a relay that ends leaves its newest flows behind', async () => {
    const server = await RedisServer.started();
    const relay = openRecovery(server);
    await isReady(relay);
    for (let port = 1; port <= 600; port++) prove(relay, client(port));
    await relay.recovery.close();
    expect(await openOther(server).dbsize()).toBe(600);
  });
});

describe('With a Redis that is not well', () => {
  it('down at the start: nothing is found, and what is saved is written when it comes', async () => {
    const server = await RedisServer.onFreePort();
    const relay = openRecovery(server);
    prove(relay);
    expect(await relay.recovery.find(FLOW, 0)).toBeUndefined();
    expect(relay.reads()).toMatchObject({ shed: 1, misses: 0 });
    await server.start();
    await eventually(async () => expect(await target(relay.recovery)).toBe(7));
  });

  it('killed: nothing is found, and it is used again when it is back', async () => {
    const server = await RedisServer.started();
    const relay = openRecovery(server);
    prove(relay);
    await eventually(async () => expect(await target(relay.recovery)).toBe(7));
    await server.stop();
    await eventually(() => expect(relay.redis.ready).toBe(false));
    expect(await relay.recovery.find(FLOW, 0)).toBeUndefined();
    prove(relay, client(2));
    await server.start();
    await eventually(async () => expect(await target(relay.recovery, client(2))).toBe(7));
  });

  it('started again empty: what lives is written again, before it is due', async () => {
    const server = await RedisServer.started();
    const relay = openRecovery(server, { idle: 2_000_000_000 });
    prove(relay);
    await eventually(async () => expect(await target(relay.recovery)).toBe(7));
    await server.stop();
    await server.start();
    await eventually(async () => expect(await target(relay.recovery)).toBe(7));
  });

  it('stopped in its tracks: nobody waits long, and reads go on when it does', async () => {
    const server = await RedisServer.started();
    const relay = openRecovery(server);
    prove(relay);
    await eventually(async () => expect(await target(relay.recovery)).toBe(7));
    server.pause();
    await eventually(async () => {
      expect(await relay.recovery.find(FLOW, 0)).toBeUndefined();
      prove(relay, client(2));
      expect(relay.redis.ready).toBe(false);
    });
    expect(relay.redis.counters().timeouts).toBeGreaterThan(0);
    server.resume();
    await eventually(async () => expect(await target(relay.recovery, client(2))).toBe(7));
  });

  it('full: refusals are counted, and what it has is still found', async () => {
    const server = await RedisServer.started();
    const relay = openRecovery(server);
    prove(relay);
    await eventually(async () => expect(await target(relay.recovery)).toBe(7));
    await openOther(server).config('SET', 'maxmemory', '1');
    prove(relay, client(2));
    await eventually(() => expect(relay.writes().failed).toBeGreaterThan(0));
    await eventually(async () => expect(await target(relay.recovery)).toBe(7));
    await openOther(server).config('SET', 'maxmemory', '0');
    await eventually(async () => expect(await target(relay.recovery, client(2))).toBe(7));
  });
});

describe('With a Redis that lies', () => {
  it.each<[string, (other: Redis, record: Buffer) => Promise<unknown>]>([
    ['garbage', (other) => other.set(NAME, 'garbage')],
    ['as many random bytes', (other, record) => other.set(NAME, Buffer.alloc(record.length, 0xa5))],
    ['half of the record', (other, record) => other.set(NAME, record.subarray(0, 22))],
    ['more than the record', (other, record) => other.set(NAME, Buffer.concat([record, record]))],
    ['something huge', (other) => other.setrange(NAME, 100_000_000, 'x')],
    ['a list', (other) => other.pipeline().del(NAME).rpush(NAME, 'x').exec()],
    ['an answer in words', (other) => other.set(NAME, 'OK')],
  ])('%s is no flow', async (_, lie) => {
    const relay = await openAfter(lie);
    await eventually(async () => {
      expect(await target(relay.recovery)).toBeUndefined();
      expect(relay.reads().invalid).toBe(1);
    });
    expect(relay.redis.counters().state).toBe('closed');

    prove(relay);
    await eventually(async () => expect(await target(relay.recovery)).toBe(7));
  });

  it('the record of another flow is no flow', async () => {
    const server = await RedisServer.started();
    const relay = openRecovery(server);
    prove(relay);
    await eventually(async () => expect(await target(relay.recovery)).toBe(7));
    const other = openOther(server);
    const victim = client(2);
    await other.set(flowName(victim, 0), (await other.getBuffer(NAME))!);
    await eventually(async () => {
      expect(await relay.recovery.find(victim, 0)).toBeUndefined();
      expect(relay.reads().invalid).toBe(1);
    });
  });

  it('a record of long ago is no flow', async () => {
    const server = await RedisServer.started();
    const relay = openRecovery(server, { idle: 500 });
    prove(relay);
    const other = openOther(server);
    await eventually(async () => expect(await other.persist(NAME)).toBe(1));
    await eventually(async () => {
      expect(await relay.recovery.find(FLOW, 0)).toBeUndefined();
      expect(relay.reads().invalid).toBeGreaterThan(0);
    });
    expect(await other.exists(NAME)).toBe(1);
  });
});
