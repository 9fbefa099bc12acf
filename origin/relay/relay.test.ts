import { describe, expect, test } from 'vitest';
import { MemoryDirectory } from '../directory.ts';
import { startRelay } from './relay.ts';
import {
  BINDING_SUCCESS,
  DTLS,
  GOOG_PING,
  RTP,
  check,
  stun,
  success,
  transactionId,
} from './testing/packets.ts';
import {
  ANY_PORT,
  KEY,
  SILENT,
  openEnd,
  openRelay,
  openTransceivers,
  prove,
  ufragFor,
} from './testing/rig.ts';

describe('a call within one region', () => {
  test('a check goes to the transceiver of its token, with the way back in its header', async () => {
    const { transceivers, ends } = await openTransceivers(4, 5);
    const relay = await openRelay({ transceivers });
    const client = await openEnd();
    const packet = check(ufragFor(1, 5));

    client.send(packet, relay.listeners[0]!);

    const { frame, from } = await ends(5).nextFrame();
    expect(frame).toMatchObject({ flags: 0, listener: 0, client: client.address });
    expect(frame.proxy).toEqual(relay.trunk);
    expect(from).toEqual(relay.trunk);
    expect(frame.payload).toEqual(packet);
    expect(ends(4).waiting).toBe(0);
  });

  test('the answer comes from the address the client sent to', async () => {
    const { transceivers, ends } = await openTransceivers(5);
    const relay = await openRelay({ transceivers, listeners: [ANY_PORT, ANY_PORT] });
    const client = await openEnd();
    const id = transactionId();

    client.send(check(ufragFor(1, 5), id), relay.listeners[1]!);
    const up = await ends(5).answerNext(() => success(id));

    expect(up.listener).toBe(1);
    expect(await client.next()).toEqual({ bytes: success(id), from: relay.listeners[1] });
  });

  test('after a check all else follows it: DTLS, RTP, and STUN without USERNAME', async () => {
    const { transceivers, ends } = await openTransceivers(5);
    const relay = await openRelay({ transceivers });
    const client = await openEnd();
    await prove(client, relay, ends(5), ufragFor(1, 5));
    const packets = [
      DTLS,
      RTP,
      stun(GOOG_PING, transactionId(), []),
      stun(BINDING_SUCCESS, transactionId(), []),
    ];

    for (const packet of packets) client.send(packet, relay.listeners[0]!);

    for (const packet of packets) {
      expect((await ends(5).nextFrame()).frame.payload).toEqual(packet);
    }
    const { fromClients, toTrunk, fromTrunk, toClients, flows } = relay.counters();
    const bytes = Buffer.concat([check(ufragFor(1, 5)), ...packets]).length;
    expect(fromClients).toEqual({ packets: 5, bytes });
    expect(toTrunk).toEqual(fromClients);
    expect(fromTrunk).toEqual({ packets: 1, bytes: success(transactionId()).length });
    expect(toClients).toEqual(fromTrunk);
    expect(flows).toEqual({ tentative: 0, proven: 1 });
  });

  test('a check of 1200 bytes passes, as clients send that put DTLS into STUN', async () => {
    const { transceivers, ends } = await openTransceivers(5);
    const relay = await openRelay({ transceivers });
    const client = await openEnd();
    const packet = check(ufragFor(1, 5), transactionId(), 1200);
    expect(packet).toHaveLength(1200);

    client.send(packet, relay.listeners[0]!);

    expect((await ends(5).nextFrame()).frame.payload).toEqual(packet);
  });

  test('a client on IPv6 is served over a trunk on IPv4', async () => {
    const { transceivers, ends } = await openTransceivers(5);
    const listeners = [ANY_PORT, { address: '::1', port: 0 }];
    const relay = await openRelay({ transceivers, listeners });
    const client = await openEnd('::1');
    const id = transactionId();

    client.send(check(ufragFor(1, 5), id), relay.listeners[1]!);
    const up = await ends(5).answerNext(() => success(id));

    expect(up.client).toEqual(client.address);
    expect(await client.next()).toEqual({ bytes: success(id), from: relay.listeners[1] });
  });

  test('a token sealed with the older of two keys is good', async () => {
    const { transceivers, ends } = await openTransceivers(5);
    const newer = { id: 'B', key: Buffer.alloc(16, 'newer') };
    const relay = await openRelay({ transceivers, routingKeys: [newer, KEY] });
    const client = await openEnd();

    const packet = check(ufragFor(1, 5));

    client.send(packet, relay.listeners[0]!);

    expect((await ends(5).nextFrame()).frame.payload).toEqual(packet);
  });

  test('a transceiver that is gone stops nothing', async () => {
    const { transceivers, ends } = await openTransceivers(5);
    const gone = await openEnd();
    transceivers.add(6, gone.address);
    const relay = await openRelay({ transceivers });
    const client = await openEnd();
    await gone.close();

    const ufrag = ufragFor(1, 6);
    for (let i = 0; i < 20; i++) client.send(check(ufrag), relay.listeners[0]!);

    await prove(client, relay, ends(5), ufragFor(1, 5));
    expect(relay.counters().flows.proven).toBe(1);
  });
});

describe('starting', () => {
  const options = {
    cluster: 1,
    listeners: [ANY_PORT],
    trunk: ANY_PORT,
    peers: [],
    routes: [],
    routingKeys: [KEY],
    transceivers: new MemoryDirectory(),
    log: SILENT,
  } as const;

  test('a port that is taken is named, and nothing stays open', async () => {
    const holder = await openEnd();
    const free = await openEnd();
    const listener = free.address;
    await free.close();

    const starting = startRelay({ ...options, listeners: [listener], trunk: holder.address });

    await expect(starting).rejects.toThrow(
      `Cannot bind UDP 127.0.0.1 port ${holder.address.port}: another process has it`,
    );
    await openRelay({ listeners: [listener] });
  });

  test.each([
    ['0.0.0.0', 'The trunk cannot be "0.0.0.0"'],
    ['::', 'The trunk cannot be "::"'],
    ['relay.example', 'The trunk cannot be "relay.example"'],
  ])('a trunk at %s is refused', async (address, message) => {
    const starting = startRelay({ ...options, trunk: { address, port: 0 } });
    await expect(starting).rejects.toThrow(message);
  });

  test.each(['0.0.0.0', '::'])('a listener at %s is refused', async (address) => {
    const starting = startRelay({ ...options, listeners: [{ address, port: 0 }] });
    await expect(starting).rejects.toThrow(`A listener cannot be "${address}"; give one for each`);
  });

  test('a peer that is no network is named', async () => {
    const starting = startRelay({ ...options, peers: ['10.0.0.0/33'] });
    await expect(starting).rejects.toThrow('"10.0.0.0/33" is not a network');
  });

  test.each([
    { address: 'relay.example', port: 1 },
    { address: '127.0.0.1', port: 0 },
    { address: '::1', port: 1 },
  ])('a route by $address port $port is refused, and nothing stays open', async (relay) => {
    const free = await openEnd();
    const trunk = free.address;
    await free.close();
    const routes = [{ cluster: 2, region: 'eu-central-1', relays: [relay] }];

    const starting = startRelay({ ...options, trunk, routes });

    await expect(starting).rejects.toThrow(
      `The route to eu-central-1 has ${relay.address} port ${relay.port}, which is not a port and an IPv4`,
    );
    await openRelay({ trunk });
  });
});
