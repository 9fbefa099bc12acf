/** The life of a relay's process: its start, its drain, and one that takes its place. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { choosePorts, LOOPBACK } from '../local/ports.ts';
import { hasBatchedCalls } from './relay/libc.ts';
import { RTP, check, success, transactionId } from './relay/testing/packets.ts';
import { RelayProcess, relayConfig } from './relay/testing/relay-command.ts';
import { eventually, openEnd, ufragFor } from './relay/testing/rig.ts';
import type { UdpEnd } from './relay/testing/udp-end.ts';

const TRANSCEIVER = 5;

/** Clients of a stream, and milliseconds between two packets of each. */
const CLIENTS = 20;
const INTERVAL = 20;

/** Packets of a stream that may be lost while one process takes another's place. */
const FEW = 10;

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
    const held = createServer();
    const asked = once(held, 'request');
    held.listen(0, LOOPBACK);
    await once(held, 'listening');
    onTestFinished(() => held.closeAllConnections());
    const address = held.address();
    if (address === null || typeof address === 'string') throw new Error('no port');
    // It waits for the flows of one that does not give them.
    const replaces = `http://${LOOPBACK}:${address.port}`;
    const relay = RelayProcess.spawn(await relayConfig({ replaces }));
    await asked;
    expect(await relay.status('/readyz')).toBe(503);
    expect(await relay.status('/metrics')).toBe(503);
    expect(await relay.status('/healthz')).toBe(200);
    held.close();
    held.closeAllConnections();
    await relay.ready();
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
  test.for([1, 2])('of %i threads loses no more than a few packets', async (threads) => {
    const { end, received } = await openTransceiver();
    const transceivers = [{ id: TRANSCEIVER, trunk: end.address }];
    const drain = { time: 600_000, quiet: 2_000 };
    const config = await relayConfig({ threads, drain, transceivers });
    const old = await RelayProcess.started(config);
    const clients = await Promise.all(Array.from({ length: CLIENTS }, () => proveClient(old)));

    const stream = startStream(clients, old);
    await delay(500);
    const { admin } = await relayConfig();
    const successor = await RelayProcess.started({
      ...config,
      admin,
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
    expect(await successor.metric('relay_flow_creations_total{source="restored"}')).toBe(CLIENTS);
    const back = clients.reduce((sum, client) => sum + client.waiting, 0);
    expect(stream.sent() - received()).toBeLessThanOrEqual(FEW);
    expect(stream.sent() - back).toBeLessThanOrEqual(FEW);
  });
});
