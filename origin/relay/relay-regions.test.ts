import { expect, test } from 'vitest';
import { TRUNK_DOWN, TRUNK_PASSED } from '../../protocol/trunk.ts';
import { RTP, check, makeFrame, success, transactionId } from './testing/packets.ts';
import { eventually, idOf, openEnd, openRelay, openTransceivers, ufragFor } from './testing/rig.ts';

async function openTwoRegions() {
  const { transceivers, ends } = await openTransceivers(5);
  const home = await openRelay({ cluster: 2, transceivers });
  const routes = [{ cluster: 2, region: 'eu-central-1', relays: [home.trunk] }];
  const ingress = await openRelay({ cluster: 1, routes });
  return { home, ingress, transceiver: ends(5) };
}

test('a client of one region reaches a transceiver of another, and is answered', async () => {
  const { home, ingress, transceiver } = await openTwoRegions();
  const client = await openEnd();
  const id = transactionId();

  client.send(check(ufragFor(2, 5), id), ingress.listeners[0]!);
  const up = await transceiver.answerNext((frame) => success(idOf(frame.payload)));

  expect(up).toMatchObject({ flags: TRUNK_PASSED, client: client.address, proxy: ingress.trunk });
  expect(await client.next()).toEqual({ bytes: success(id), from: ingress.listeners[0] });
  expect(ingress.counters().flows).toEqual({ tentative: 0, proven: 1 });
  expect(home.counters().flows).toEqual({ tentative: 0, proven: 1 });

  client.send(RTP, ingress.listeners[0]!);
  await transceiver.answerNext((frame) => frame.payload);
  expect((await client.next()).bytes).toEqual(RTP);
});

test('clients of two relays with one address and port are two flows', async () => {
  const { transceivers, ends } = await openTransceivers(5, 6);
  const home = await openRelay({ cluster: 2, transceivers });
  const routes = [{ cluster: 2, region: 'eu-central-1', relays: [home.trunk] }];
  const [one, two] = [await openRelay({ routes }), await openRelay({ routes })];
  const client = await openEnd();
  for (const [relay, transceiver] of [
    [one, 5],
    [two, 6],
  ] as const) {
    client.send(check(ufragFor(2, transceiver)), relay.listeners[0]!);
    await ends(transceiver).answerNext((frame) => success(idOf(frame.payload)));
    await client.next();
  }

  client.send(RTP, one.listeners[0]!);
  client.send(RTP, two.listeners[0]!);

  expect((await ends(5).nextFrame()).frame.proxy).toEqual(one.trunk);
  expect((await ends(6).nextFrame()).frame.proxy).toEqual(two.trunk);
});

test('a reply crosses relays that have no flow', async () => {
  const home = await openRelay({ cluster: 2 });
  const ingress = await openRelay({ cluster: 1 });
  const transceiver = await openEnd();
  const client = await openEnd();
  const reply = { listener: 0, client: client.address, proxy: ingress.trunk, payload: RTP };

  transceiver.send(makeFrame({ flags: TRUNK_DOWN, ...reply }), home.trunk);

  expect(await client.next()).toEqual({ bytes: RTP, from: ingress.listeners[0] });
});

test('two regions whose routes point at each other make no loop', async () => {
  const first = await openRelay({ cluster: 1 });
  const second = await openRelay({
    cluster: 2,
    routes: [{ cluster: 3, region: 'ap-northeast-1', relays: [first.trunk] }],
  });
  const client = await openEnd();

  client.send(check(ufragFor(3, 5)), second.listeners[0]!);

  await eventually(() => expect(first.counters().drops['wrong-cluster']).toBe(1));
  expect(first.counters().toTrunk.packets).toBe(0);
});

test('a route that leads back to the relay itself makes no loop', async () => {
  const free = await openEnd();
  const trunk = free.address;
  await free.close();
  const routes = [{ cluster: 2, region: 'eu-central-1', relays: [trunk] }];
  const relay = await openRelay({ trunk, routes });
  const client = await openEnd();

  client.send(check(ufragFor(2, 5)), relay.listeners[0]!);

  await eventually(() => expect(relay.counters().drops.loop).toBe(1));
  expect(relay.counters().toTrunk.packets).toBe(1);
});

test('each client keeps to one of several relays, and all relays are used', async () => {
  const relays = [await openEnd(), await openEnd()];
  const addresses = relays.map((relay) => relay.address);
  const ingress = await openRelay({
    routes: [{ cluster: 2, region: 'eu-central-1', relays: addresses }],
  });
  const clients = await Promise.all(Array.from({ length: 32 }, () => openEnd()));

  for (let round = 0; round < 2; round++) {
    for (const client of clients) client.send(check(ufragFor(2, 5)), ingress.listeners[0]!);
  }

  const ports = relays.map((): number[] => []);
  await eventually(async () => {
    for (const [i, relay] of relays.entries()) {
      while (relay.waiting > 0) ports[i]!.push((await relay.nextFrame()).frame.client.port);
    }
    expect(ports.flat()).toHaveLength(64);
  });
  const [first, second] = ports.map((of) => new Set(of));
  expect(first!.size + second!.size).toBe(32);
  expect([...first!].filter((port) => second!.has(port))).toEqual([]);
  expect(Math.min(first!.size, second!.size)).toBeGreaterThan(0);
});
