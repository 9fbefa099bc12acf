/** A relay's process killed in the midst of a call and started again: how long the call is not heard. */
import { setTimeout as delay } from 'node:timers/promises';
import { randomBytes } from 'node:crypto';
import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { announceTransceiver } from '../origin/announcement.ts';
import { echo } from '../origin/backend/echo.ts';
import { GuardedRedis } from '../origin/redis/guarded-redis.ts';
import { RedisServer } from '../origin/redis/testing/redis-server.ts';
import { RelayProcess, relayConfig } from '../origin/relay/testing/relay-command.ts';
import { HOUR, KEY, ufragFor } from '../origin/relay/testing/rig.ts';
import {
  libwebrtcClient,
  type LibwebrtcClient,
} from '../origin/transceiver/testing/libwebrtc-client.ts';
import { startTransceiver, type Transceiver } from '../origin/transceiver/transceiver.ts';
import { UdpTap } from './support/udp-tap.ts';
import { until } from './support/until.ts';

const LOG = pino({ level: 'silent' });
const TRANSCEIVER = 7;

/**
 * Audio packets, which come each 20 ms, that a relay may lose before Redis heals a call: 300 ms of them.
 * They are counted, since on a busy machine all takes longer.
 */
const MOST_LOST = 15;

/** Milliseconds between two looks at what was received. */
const LOOK = 5;

/** Milliseconds without a packet, which come each 20, that show that none is on its way. */
const SILENCE = 100;

/** Packets that make a call one that is heard: a second of them. */
const PACKETS = 50;

async function openTransceiver(): Promise<Transceiver> {
  const transceiver = await startTransceiver({
    id: TRANSCEIVER,
    trunk: { address: '127.0.0.1', port: 0 },
    peers: ['127.0.0.0/8'],
    capacity: 10,
    backend: echo,
    log: LOG,
  });
  onTestFinished(() => transceiver.close());
  return transceiver;
}

async function openTap(relay: RelayProcess): Promise<UdpTap> {
  const tap = await UdpTap.open(relay.listeners[0]!);
  onTestFinished(() => tap[Symbol.asyncDispose]());
  return tap;
}

async function call(transceiver: Transceiver, relay: UdpTap): Promise<LibwebrtcClient> {
  const client = await libwebrtcClient();
  onTestFinished(() => client[Symbol.asyncDispose]());
  const request = {
    call: randomBytes(16).toString('hex'),
    tenant: 'acme',
    ufrag: ufragFor(1, TRANSCEIVER),
    expiresAt: Date.now() + HOUR,
    relays: [{ ...relay.address, transport: 'udp' as const }],
  };
  await client.take(transceiver.create(request, client.offer).answer);
  await until(async () => (await received(client)) >= PACKETS);
  return client;
}

/** Audio packets received so far. */
async function received({ connection }: LibwebrtcClient): Promise<number> {
  const stats = await connection.getStats();
  const inbound = [...stats.values()].filter(({ type }) => type === 'inbound-rtp');
  return inbound.reduce((sum, { packetsReceived }) => sum + Number(packetsReceived ?? 0), 0);
}

/** Settles once what was on its way when the relay ended has come, and nothing more does. */
async function silence(client: LibwebrtcClient): Promise<number> {
  for (;;) {
    const before = await received(client);
    await delay(SILENCE);
    if ((await received(client)) === before) return before;
  }
}

/** Settles with the time when more has been received than before the silence. */
async function heardAgain(client: LibwebrtcClient, before: number): Promise<number> {
  while ((await received(client)) === before) await delay(LOOK);
  return performance.now();
}

test('with Redis, a call is heard again as soon as the relay is back, without any check', async () => {
  const server = await RedisServer.started();
  const redis = new GuardedRedis({ url: server.url, log: LOG });
  onTestFinished(() => redis.close());
  const transceiver = await openTransceiver();
  const { trunk } = transceiver;
  const announcement = announceTransceiver({
    redis,
    cluster: 1,
    routingKeys: [KEY],
    transceiver: TRANSCEIVER,
    trunk,
    log: LOG,
  });
  onTestFinished(() => announcement.close());
  await announcement.announced;
  const config = await relayConfig();
  const relay = await RelayProcess.started(config, server.url);
  const tap = await openTap(relay);
  const client = await call(transceiver, tap);
  await until(async () => {
    const kept = await redis.run((one) => one.keys('flow:*'));
    // A client with several addresses has as many flows.
    const proven = await relay.metric('relay_flows{state="proven"}');
    return Array.isArray(kept) && kept.length > 0 && kept.length === proven;
  });

  tap.passesChecks = false;
  await relay.kill();
  const before = await silence(client);
  const successor = RelayProcess.spawn(config, server.url);
  const heard = heardAgain(client, before);
  await successor.ready();
  const ready = performance.now();
  const gap = Math.max(0, (await heard) - ready);

  const stun = 'relay_packets_total{direction="from_clients",class="stun"}';
  expect(await successor.metric(stun)).toBe(0);
  expect(await successor.metric('relay_flow_creations_total{source="stun"}')).toBe(0);
  expect(await successor.metric('relay_flow_creations_total{source="redis"}')).toBeGreaterThan(0);
  const lost = await successor.metric('relay_drops_total{reason="no-flow"}');
  expect(lost).toBeLessThanOrEqual(MOST_LOST);
  console.info(
    `Heard again ${gap.toFixed(0)} ms after the relay was ready; it lost ${lost} packets`,
  );
  tap.passesChecks = true;
  await until(() => client.connection.connectionState === 'connected');
});

test('without Redis, the next check of the client heals the call', async () => {
  const transceiver = await openTransceiver();
  const transceivers = [{ id: TRANSCEIVER, trunk: transceiver.trunk }];
  const config = await relayConfig({ transceivers });
  const relay = await RelayProcess.started(config);
  const tap = await openTap(relay);
  const client = await call(transceiver, tap);

  tap.passesChecks = false;
  await relay.kill();
  const before = await silence(client);
  const successor = await RelayProcess.started(config);
  await until(async () => (await successor.metric('relay_drops_total{reason="no-flow"}')) > 0);
  expect(await received(client)).toBe(before);
  tap.passesChecks = true;
  await heardAgain(client, before);

  expect(await successor.metric('relay_flow_creations_total{source="stun"}')).toBeGreaterThan(0);
  expect(await successor.metric('relay_flow_creations_total{source="hand-over"}')).toBe(0);
  await until(() => client.connection.connectionState === 'connected');
});
