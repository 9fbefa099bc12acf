import { fork } from 'node:child_process';
import { once } from 'node:events';
import { Redis } from 'ioredis';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { TrunkAddress } from '../../protocol/footprint.ts';
import { TRUNK_PASSED } from '../../protocol/trunk.ts';
import { GuardedRedis } from '../redis/guarded-redis.ts';
import { RedisServer } from '../redis/testing/redis-server.ts';
import { FlowRecords } from './recovery/flow-records.ts';
import { ASK_RATE } from './recovery/held-packets.ts';
import type { Relay, RelayOptions } from './relay.ts';
import { DTLS, RTP, check, makeFrame, success, transactionId } from './testing/packets.ts';
import {
  HOUR,
  KEY,
  SILENT,
  eventually,
  openEnd,
  openRelay,
  openTransceivers,
  prove,
  ufragFor,
} from './testing/rig.ts';
import type { UdpEnd } from './testing/udp-end.ts';

/** Conditions are waited for, however slow the machine. */
vi.setConfig({ testTimeout: 120_000 });

/** A relay with that Redis, and a connection of its own. */
async function openKeeper(server: RedisServer, options: Partial<RelayOptions>): Promise<Relay> {
  const redis = new GuardedRedis({ url: server.url, log: SILENT });
  onTestFinished(() => redis.close());
  return openRelay({ redis, ...options });
}

/** What writes to Redis behind the relay's back. */
function openOther(server: RedisServer): Redis {
  const other = new Redis(server.url, { protocol: 2 });
  // A server that a test stops is missed here, too.
  other.on('error', () => {});
  onTestFinished(() => other.disconnect());
  return other;
}

/** Waits until Redis has a flow of the relay. */
async function kept(relay: Relay): Promise<void> {
  await eventually(() => expect(relay.counters().recovery!.writes.written).toBeGreaterThan(0));
}

/** Waits until the relay reaches Redis: gives a new client whose flow it keeps there. */
async function connected(relay: Relay, transceiver: UdpEnd): Promise<UdpEnd> {
  const client = await openEnd();
  await prove(client, relay, transceiver, ufragFor(1, 5));
  await kept(relay);
  return client;
}

/**
 * A client with a flow that only Redis still knows, the transceiver of it, and a relay on the addresses
 * of the one that made it.
 *
 * @param change What happens to Redis in between.
 */
async function openAfterLoss(change?: (other: Redis, server: RedisServer) => Promise<unknown>) {
  const server = await RedisServer.started();
  const { transceivers, ends } = await openTransceivers(5);
  const transceiver = ends(5);
  const first = await openKeeper(server, { transceivers });
  const client = await openEnd();
  const ufrag = ufragFor(1, 5);
  await prove(client, first, transceiver, ufrag);
  await kept(first);
  const { listeners, trunk } = first;
  await first.close();
  await change?.(openOther(server), server);
  const relay = await openKeeper(server, { transceivers, listeners, trunk });
  return { server, client, relay, transceiver, ufrag };
}

/** The client's packet reaches the transceiver, whose answer reaches the client. */
async function echoes(client: UdpEnd, relay: Relay, transceiver: UdpEnd): Promise<void> {
  client.send(RTP, relay.listeners[0]!);
  const up = await transceiver.answerNext(() => DTLS);
  expect(up.payload).toEqual(RTP);
  expect((await client.next()).bytes).toEqual(DTLS);
}

describe('a relay that has lost its flows', () => {
  test('carries packets on without a check, though the one before was killed', async () => {
    const server = await RedisServer.started();
    const { transceivers, ends } = await openTransceivers(5);
    const { first, counters, kill } = await startProcess(server, ends(5));
    const client = await openEnd();
    const id = transactionId();
    client.send(check(ufragFor(1, 5), id), first.listeners[0]!);
    await ends(5).answerNext(() => success(id));
    await client.next();
    await eventually(async () => {
      const { recovery } = await counters();
      expect(recovery!.writes.written).toBeGreaterThan(0);
    });
    await kill();

    const relay = await openKeeper(server, { transceivers, ...first });
    await connected(relay, ends(5));
    await echoes(client, relay, ends(5));

    const lookups = { flows: 1, heldPackets: 1, releasedPackets: 1 };
    expect(relay.counters()).toMatchObject({ lookups, createdFlows: { stun: 1, redis: 1 } });
    expect(relay.counters().drops['no-flow']).toBe(0);
    await echoes(client, relay, ends(5));
    expect(relay.counters().lookups).toEqual(lookups);
  });

  test('carries all packets that came meanwhile, in their order', async () => {
    const { client, relay, transceiver } = await openAfterLoss();
    await connected(relay, transceiver);
    const packets = [DTLS, RTP, DTLS];

    for (const packet of packets) client.send(packet, relay.listeners[0]!);

    for (const packet of packets) {
      expect((await transceiver.nextFrame()).frame.payload).toEqual(packet);
    }
  });

  test('carries what another region’s relay sends, and passes it on once', async () => {
    const { client, relay, transceiver } = await openAfterLoss();
    await connected(relay, transceiver);
    const peer = await openEnd();
    const [at, proxy] = [client.address, peer.address];

    peer.send(makeFrame({ flags: 0, listener: 0, client: at, proxy, payload: RTP }), relay.trunk);

    const { frame } = await transceiver.nextFrame();
    expect(frame).toMatchObject({ flags: TRUNK_PASSED, client: at, proxy, payload: RTP });
  });
});

describe('a relay whose flow Redis does not give back', () => {
  test.each<[string, 'misses' | 'invalid', (other: Redis) => Promise<unknown>]>([
    ['is empty', 'misses', (other) => other.flushall()],
    ['has another text there', 'invalid', (other) => overwrite(other, () => 'nothing good')],
    ['has a list there', 'invalid', (other) => overwrite(other, undefined)],
    ['has a record that was changed', 'invalid', (other) => overwrite(other, changed)],
    ['has the record of another client', 'invalid', (other) => overwrite(other, ofAnother)],
  ])('since it %s, drops packets until the next check', async (_why, count, change) => {
    const { client, relay, transceiver, ufrag } = await openAfterLoss(change);
    await connected(relay, transceiver);

    client.send(RTP, relay.listeners[0]!);

    await eventually(() => expect(relay.counters().drops['no-flow']).toBe(1));
    expect(relay.counters()).toMatchObject({
      recovery: { reads: { hits: 0, [count]: 1 } },
      lookups: { heldPackets: 1, releasedPackets: 0 },
      flows: { tentative: 0, proven: 1 },
    });
    await prove(client, relay, transceiver, ufrag);
    await echoes(client, relay, transceiver);
  });

  test('since it is not there, drops packets until the next check', async () => {
    const { client, relay, transceiver, ufrag } = await openAfterLoss((_, server) => server.stop());

    client.send(RTP, relay.listeners[0]!);

    await eventually(() => expect(relay.counters().drops['no-flow']).toBe(1));
    await prove(client, relay, transceiver, ufrag);
    await echoes(client, relay, transceiver);
  });

  test('since it does not answer, forwards all else and drops the packet soon', async () => {
    const { server, client, relay, transceiver, ufrag } = await openAfterLoss();
    const other = await connected(relay, transceiver);
    server.pause();

    client.send(RTP, relay.listeners[0]!);
    await eventually(() => expect(relay.counters().lookups.heldPackets).toBe(1));
    await echoes(other, relay, transceiver);
    await eventually(() => expect(relay.counters().drops['no-flow']).toBe(1));
    await prove(client, relay, transceiver, ufrag);
    await echoes(client, relay, transceiver);
  });
});

test('a flood of packets without a flow asks for few and leaves good flows alone', async () => {
  const server = await RedisServer.started();
  const { transceivers, ends } = await openTransceivers(5);
  const relay = await openKeeper(server, { transceivers });
  const client = await openEnd();
  await prove(client, relay, ends(5), ufragFor(1, 5));
  await kept(relay);
  const peer = await openEnd();
  const start = performance.now();

  for (let round = 0; round < 60; round++) {
    for (let i = 0; i < 25; i++) peer.send(strangers(round * 25 + i), relay.trunk);
    await echoes(client, relay, ends(5));
  }

  const most = ASK_RATE.burst + ((performance.now() - start) / 1000) * ASK_RATE.perSecond;
  await eventually(() => {
    const { lookups, fromTrunk, drops } = relay.counters();
    // All that came but the answers to the client, one of them to its check.
    expect(drops['no-flow']).toBe(fromTrunk.packets - 61);
    expect(lookups.releasedPackets).toBe(0);
  });
  const { lookups, fromTrunk, flows } = relay.counters();
  expect(fromTrunk.packets).toBeGreaterThan(ASK_RATE.burst);
  expect(lookups.flows).toBeLessThanOrEqual(most);
  expect(flows).toEqual({ tentative: 0, proven: 1 });
});

/** A datagram with packets of 20 clients that nobody knows. */
function strangers(n: number): Buffer {
  const proxy = { address: '127.0.0.9', port: 9 };
  return Buffer.concat(
    Array.from({ length: 20 }, (_, i) => {
      const client = { address: `198.51.${n >> 8}.${n & 0xff}`, port: 1 + i };
      return makeFrame({ flags: 0, listener: 0, client, proxy, payload: RTP });
    }),
  );
}

/** @param lie What the only flow becomes, from what it was; undefined makes it a list. */
async function overwrite(
  other: Redis,
  lie: ((record: Buffer) => Buffer | string) | undefined,
): Promise<void> {
  const [name = ''] = await other.keys('flow:*');
  const record = await other.getBuffer(name);
  await other.del(name);
  if (lie) await other.set(name, lie(record!));
  else await other.rpush(name, record!);
}

function ofAnother(): Buffer {
  const token = Buffer.from(ufragFor(1, 5));
  return new FlowRecords([KEY]).seal('flow:another', token, Date.now() + HOUR);
}

function changed(record: Buffer): Buffer {
  const other = Buffer.from(record);
  other[8]! ^= 1;
  return other;
}

/** A relay in another process, to be killed. */
async function startProcess(server: RedisServer, transceiver: UdpEnd) {
  const script = new URL('testing/killable-relay.ts', import.meta.url);
  const key = Buffer.from(KEY.key).toString('hex');
  const io = process.env.RELAY_IO ?? '';
  const child = fork(script, [server.url, String(transceiver.address.port), key, io]);
  const kill = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
  };
  onTestFinished(kill);
  const [first]: { listeners: TrunkAddress[]; trunk: TrunkAddress }[] = await once(
    child,
    'message',
  );
  const counters = async (): Promise<ReturnType<Relay['counters']>> => {
    const answered = once(child, 'message');
    child.send('counters');
    const [answer]: ReturnType<Relay['counters']>[] = await answered;
    return answer!;
  };
  return { first: first!, counters, kill };
}
