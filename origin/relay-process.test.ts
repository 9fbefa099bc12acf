/** The life of a relay's process: its start, its drain, and one that takes its place. */
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { choosePorts, LOOPBACK } from '../local/ports.ts';
import { hasBatchedCalls } from './relay/libc.ts';
import { RTP, check, success, transactionId } from './relay/testing/packets.ts';
import { RelayProcess, relayConfig } from './relay/testing/relay-command.ts';
import { eventually, openEnd, ufragFor } from './relay/testing/rig.ts';
import { TcpEnd } from './relay/testing/tcp-end.ts';
import type { UdpEnd } from './relay/testing/udp-end.ts';

const TRANSCEIVER = 5;

/** Clients of a stream, and milliseconds between two packets of each. */
const CLIENTS = 20;
const INTERVAL = 20;

/** Packets of a stream that may be lost while one process takes another's place. */
const FEW = 10;

/** What seems a relay to take the place of. @param answer How it answers. */
async function openPredecessor(answer: (response: ServerResponse) => void) {
  const server = createServer((_request, response) => answer(response));
  const asked = once(server, 'request');
  server.listen(0, LOOPBACK);
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  const close = (): void => {
    server.close();
    server.closeAllConnections();
  };
  onTestFinished(close);
  return { url: `http://${LOOPBACK}:${address.port}`, asked, close };
}

async function openTransceiver(): Promise<{ end: UdpEnd; received: () => number }> {
  const end = await openEnd();
  let received = 0;
  void (async () => {
    // Its wait for the next packet ends with the test.
    for (;;) {
      await end.answerNext(({ payload }) => {
        received += payload[0] === RTP[0] ? 1 : 0;
        return payload[0] === RTP[0] ? payload : success(payload.subarray(8, 20));
      });
    }
  })();
  return { end, received: () => received };
}

async function proveClient(relay: RelayProcess): Promise<UdpEnd> {
  const client = await openEnd();
  client.send(check(ufragFor(1, TRANSCEIVER), transactionId()), relay.listeners[0]!);
  await client.next();
  return client;
}

/** A check and its answer. */
async function confirm(client: TcpEnd): Promise<void> {
  client.send(check(ufragFor(1, TRANSCEIVER), transactionId()));
  await client.next();
}

/** Sends from every client all the time, until stopped. */
function startStream(clients: readonly UdpEnd[], relay: RelayProcess) {
  let sent = 0;
  const timer = setInterval(() => {
    for (const client of clients) client.send(RTP, relay.listeners[0]!);
    sent += clients.length;
  }, INTERVAL);
  onTestFinished(() => clearInterval(timer));
  return { sent: () => sent, stop: () => clearInterval(timer) };
}

describe('a relay process', () => {
  test('says what is wrong with its configuration, and ends with 2', async () => {
    const config = await relayConfig({ peers: ['here'] });
    const relay = RelayProcess.spawn(config);
    expect(await relay.ended).toBe(2);
    expect(relay.output).toContain('peers.0: is not a network');
    expect(relay.output).not.toContain(config.routingKeys.slice(2));
  });

  test('refuses a port that another one has', async () => {
    const config = await relayConfig();
    await RelayProcess.started(config);
    const { admin } = await relayConfig();
    const other = RelayProcess.spawn({ ...config, admin });
    expect(await other.ended).toBe(1);
    expect(other.output).toContain('another process has it');
  });

  test.runIf(hasBatchedCalls())('is healthy and not ready while it starts', async () => {
    // Its flows never come to an end, as it seems.
    const { url, asked, close } = await openPredecessor((response) => {
      const timer = setInterval(() => response.write('.'), INTERVAL);
      response.on('close', () => clearInterval(timer));
    });
    const relay = RelayProcess.spawn(await relayConfig({ replaces: url }));
    await asked;
    expect(await relay.status('/readyz')).toBe(503);
    expect(await relay.status('/metrics')).toBe(503);
    expect(await relay.status('/healthz')).toBe(200);
    close();
    await relay.ready();
  });

  test.runIf(hasBatchedCalls())('goes on without the flows of one that hangs', async () => {
    const { url } = await openPredecessor(() => {});
    const relay = await RelayProcess.started(
      await relayConfig({ replaces: url, logLevel: 'warn' }),
    );
    expect(relay.output.match(/Cannot take over all flows/g)).toHaveLength(1);
    expect(relay.output).toContain('gave nothing for');
  });

  test('drains on SIGTERM: not ready at once, forwards on, and ends with 0', async () => {
    const { end } = await openTransceiver();
    const transceivers = [{ id: TRANSCEIVER, trunk: end.address }];
    const drain = { time: 600_000, quiet: 3_000 };
    const relay = await RelayProcess.started(await relayConfig({ transceivers, drain }));
    const client = await proveClient(relay);

    relay.signal('SIGTERM');
    await eventually(async () => expect(await relay.status('/readyz')).toBe(503));
    expect(await relay.status('/healthz')).toBe(200);
    client.send(RTP, relay.listeners[0]!);
    expect((await client.next()).bytes).toEqual(RTP);
    const late = await proveClient(relay);
    late.send(RTP, relay.listeners[0]!);
    expect((await late.next()).bytes).toEqual(RTP);

    expect(await relay.ended).toBe(0);
  });

  test.for(['SIGTERM', 'SIGINT'] as const)('ends at once on %s while it drains', async (signal) => {
    const drain = { time: 600_000, quiet: 600_000 };
    const relay = await RelayProcess.started(await relayConfig({ drain }));
    relay.signal('SIGTERM');
    await eventually(async () => expect(await relay.status('/readyz')).toBe(503));
    relay.signal(signal);
    expect(await relay.ended).toBe(0);
  });

  test('starts, is ready and forwards STUN though Redis is not there', async () => {
    const ports = await choosePorts({ redis: { protocol: 'tcp' } });
    const relay = await RelayProcess.started(
      await relayConfig(),
      `redis://${LOOPBACK}:${ports.redis!}`,
    );
    const client = await openEnd();
    client.send(check(ufragFor(1, TRANSCEIVER), transactionId()), relay.listeners[0]!);
    await eventually(async () =>
      expect(await relay.metric('relay_drops_total{reason="unknown-transceiver"}')).toBe(1),
    );
    expect(await relay.status('/readyz')).toBe(200);
  });
});

describe.runIf(hasBatchedCalls())('a relay that takes the place of another', () => {
  test('leaves it in its place while Redis tells of no transceiver', async () => {
    const { end } = await openTransceiver();
    const transceivers = [{ id: TRANSCEIVER, trunk: end.address }];
    const config = await relayConfig({ transceivers });
    const old = await RelayProcess.started(config);
    const client = await proveClient(old);
    const { admin } = await relayConfig();
    const replaces = `http://${config.admin!.address}:${config.admin!.port}`;
    const ports = await choosePorts({ redis: { protocol: 'tcp' } });
    const redisUrl = `redis://${LOOPBACK}:${ports.redis!}`;
    const successor = RelayProcess.spawn({ ...config, admin, replaces }, redisUrl);
    await eventually(async () => expect(await successor.status('/readyz')).toBe(503));

    // Three times as long as it waits for Redis before it warns.
    for (let i = 0; i < 30; i++) {
      client.send(RTP, old.listeners[0]!);
      expect((await client.next()).bytes).toEqual(RTP);
      await delay(100);
    }
    expect(await successor.status('/readyz')).toBe(503);
    successor.signal('SIGTERM');
    expect(await successor.ended).toBe(0);
  });

  test.for([
    [1, 2],
    [2, 1],
    [2, 2],
  ])('loses no more than a few packets, from %i threads to %i', async ([threads, others]) => {
    const { end, received } = await openTransceiver();
    const transceivers = [{ id: TRANSCEIVER, trunk: end.address }];
    const drain = { time: 600_000, quiet: 2_000 };
    const config = await relayConfig({ threads: threads!, drain, transceivers });
    const old = await RelayProcess.started(config);
    const clients = await Promise.all(Array.from({ length: CLIENTS }, () => proveClient(old)));

    const stream = startStream(clients, old);
    await delay(500);
    const { admin } = await relayConfig();
    const successor = await RelayProcess.started({
      ...config,
      admin,
      threads: others!,
      replaces: `http://${config.admin!.address}:${config.admin!.port}`,
    });
    const before = await successor.metric(
      'relay_packets_total{direction="from_clients",class="rtp"}',
    );
    old.signal('SIGTERM');
    // It gets nothing more, though its clients send all the time, and sees that.
    expect(await old.ended).toBe(0);
    await delay(500);
    stream.stop();
    await delay(500);

    expect(
      await successor.metric('relay_packets_total{direction="from_clients",class="rtp"}'),
    ).toBeGreaterThan(before);
    expect(await successor.metric('relay_flow_creations_total{source="hand-over"}')).toBe(CLIENTS);
    expect(await successor.metric('relay_flow_creations_total{source="stun"}')).toBe(0);
    expect(await successor.metric('relay_drops_total{reason="no-flow"}')).toBe(0);
    const back = clients.reduce((sum, client) => sum + client.waiting, 0);
    expect(stream.sent() - received()).toBeLessThanOrEqual(FEW);
    expect(stream.sent() - back).toBeLessThanOrEqual(FEW);
  });

  test('leaves TCP connections to that one until it has drained, and takes new ones', async () => {
    const { end } = await openTransceiver();
    const transceivers = [{ id: TRANSCEIVER, trunk: end.address }];
    const drain = { time: 600_000, quiet: 2_000 };
    const ports = await choosePorts({
      listener: { protocol: 'tcp' },
      trunk: { protocol: 'udp' },
      successorTrunk: { protocol: 'udp' },
    });
    const listener = { address: LOOPBACK, port: ports.listener! };
    const tcpWith = (port: number) => ({
      tcp: { listeners: [listener], trunk: { address: LOOPBACK, port } },
    });
    const config = await relayConfig({ drain, transceivers });
    const old = await RelayProcess.started({
      ...config,
      relay: { ...config.relay, ...tcpWith(ports.trunk!) },
    });
    const live = await TcpEnd.open(listener);
    await confirm(live);
    const { admin } = await relayConfig();
    const successor = await RelayProcess.started({
      ...config,
      admin,
      relay: { ...config.relay, ...tcpWith(ports.successorTrunk!) },
      replaces: `http://${config.admin!.address}:${config.admin!.port}`,
    });
    old.signal('SIGTERM');
    await eventually(async () => expect(await old.status('/readyz')).toBe(503));

    const late = await Promise.all(Array.from({ length: CLIENTS }, () => TcpEnd.open(listener)));
    for (const client of late) await confirm(client);
    for (const client of [live, ...late]) {
      client.send(RTP);
      expect(await client.next()).toEqual(RTP);
    }

    expect(await old.metric('relay_tcp_connections')).toBe(1);
    expect(await successor.metric('relay_tcp_connections')).toBe(CLIENTS);
    expect(live.isOver).toBe(false);
    // Nothing comes to it any more.
    expect(await old.ended).toBe(0);
    await eventually(() => expect(live.isOver).toBe(true));
    for (const client of late) {
      client.send(RTP);
      expect(await client.next()).toEqual(RTP);
    }
  });
});
