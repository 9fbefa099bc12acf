import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import type { Relay } from './relay.ts';
import { frame } from './rfc4571.ts';
import { DTLS, RTP, check, replyTo, success, transactionId } from './testing/packets.ts';
import {
  ANY_PORT,
  eventually,
  openEnd,
  openRelay,
  openTransceivers,
  prove,
  ufragFor,
} from './testing/rig.ts';
import { TcpEnd } from './testing/tcp-end.ts';
import type { UdpEnd } from './testing/udp-end.ts';

const TCP = { listeners: [ANY_PORT], trunk: ANY_PORT };

function connectTo(relay: Relay): Promise<TcpEnd> {
  return TcpEnd.open(relay.tcp!.listeners[0]!);
}

/** A check and its answer: afterwards the client has a proven flow. */
async function proveTcp(client: TcpEnd, transceiver: UdpEnd, ufrag: string): Promise<void> {
  const id = transactionId();
  client.send(check(ufrag, id));
  await transceiver.answerNext(() => success(id));
  await client.next();
}

test('a call over TCP goes to the transceiver of its token, and back by a trunk of its own', async () => {
  const { transceivers, ends } = await openTransceivers(4, 5);
  const relay = await openRelay({ transceivers, tcp: TCP });
  const client = await connectTo(relay);
  const [id, packet] = [transactionId(), check(ufragFor(1, 5))];

  client.send(packet);
  const { frame: up, from } = await ends(5).nextFrame();
  ends(5).send(replyTo(up, success(id)), from);

  expect(up).toMatchObject({ flags: 0, listener: 0, client: client.address, payload: packet });
  expect(up.proxy).toEqual(relay.tcp!.trunk);
  expect(from).toEqual(relay.tcp!.trunk);
  expect(await client.next()).toEqual(success(id));
  expect(ends(4).waiting).toBe(0);
});

test('after a check all else follows it both ways, and is counted with all the relay forwards', async () => {
  const { transceivers, ends } = await openTransceivers(5);
  const relay = await openRelay({ transceivers, tcp: TCP });
  const client = await connectTo(relay);
  await proveTcp(client, ends(5), ufragFor(1, 5));

  for (const packet of [DTLS, RTP]) client.send(packet);
  for (const packet of [DTLS, RTP]) {
    const { frame: up, from } = await ends(5).nextFrame();
    expect(up.payload).toEqual(packet);
    ends(5).send(replyTo(up, packet), from);
  }

  expect([await client.next(), await client.next()]).toEqual([DTLS, RTP]);
  const { fromClients, toClients, flows, tcp } = relay.counters();
  expect([fromClients.packets, toClients.packets]).toEqual([3, 3]);
  expect(flows).toEqual({ tentative: 0, proven: 1 });
  expect(tcp).toMatchObject({ open: 1, accepted: 1 });
});

test('a client by UDP and TCP at once has both ways to its transceiver', async () => {
  const { transceivers, ends } = await openTransceivers(5);
  const relay = await openRelay({ transceivers, tcp: TCP });
  const [udp, tcp] = [await openEnd(), await connectTo(relay)];
  const ufrag = ufragFor(1, 5);

  await prove(udp, relay, ends(5), ufrag);
  await proveTcp(tcp, ends(5), ufrag);
  udp.send(RTP, relay.listeners[0]!);
  const byUdp = (await ends(5).nextFrame()).frame;
  tcp.send(RTP);
  const byTcp = (await ends(5).nextFrame()).frame;

  expect([byUdp.proxy, byTcp.proxy]).toEqual([relay.trunk, relay.tcp!.trunk]);
  expect(relay.counters().flows.proven).toBe(2);
});

test('a call over TCP into another region crosses the trunk both ways', async () => {
  const { transceivers, ends } = await openTransceivers(5);
  const home = await openRelay({ cluster: 2, transceivers });
  const routes = [{ cluster: 2, region: 'eu-central-1', relays: [home.trunk] }];
  const relay = await openRelay({ routes, tcp: TCP });
  const client = await connectTo(relay);

  await proveTcp(client, ends(5), ufragFor(2, 5));
  client.send(RTP);
  await ends(5).answerNext(() => DTLS);

  expect(await client.next()).toEqual(DTLS);
});

test('a client that connects anew is served by its next check', async () => {
  const { transceivers, ends } = await openTransceivers(5);
  const relay = await openRelay({ transceivers, tcp: TCP });
  const ufrag = ufragFor(1, 5);
  const before = await connectTo(relay);
  await proveTcp(before, ends(5), ufrag);
  before.send(RTP);
  const { frame: up, from } = await ends(5).nextFrame();
  before.reset();
  await eventually(() => expect(relay.counters().tcp.open).toBe(0));

  ends(5).send(replyTo(up, RTP), from);
  await eventually(() => expect(relay.counters().drops['no-connection']).toBe(1));
  await proveTcp(await connectTo(relay), ends(5), ufrag);
});

test('a token that is not good leads nowhere, and leaves no flow', async () => {
  const { transceivers, ends } = await openTransceivers(5);
  const relay = await openRelay({ transceivers, tcp: TCP });
  const client = await connectTo(relay);

  client.send(check('A'.repeat(23)));
  client.send(check(ufragFor(1, 5, Date.now() - 60_000)));
  client.send(RTP);

  await eventually(() => {
    expect(relay.counters().drops).toMatchObject({ forged: 1, expired: 1, 'no-flow': 1 });
  });
  expect(ends(5).waiting).toBe(0);
  expect(relay.counters().flows).toEqual({ tentative: 0, proven: 0 });
});

test('whatever streams bring, before a check or after, others are served', async () => {
  const { transceivers, ends } = await openTransceivers(5);
  const relay = await openRelay({ transceivers, tcp: TCP });
  const ufrag = ufragFor(1, 5);
  const steady = await connectTo(relay);
  await proveTcp(steady, ends(5), ufrag);

  for (let i = 0; i < 100; i++) {
    const client = await connectTo(relay);
    const first = check(ufrag);
    // Half of them begin well; half of those go on in frames, which are full of anything.
    if (i % 2 === 0) client.write(frame(first, 0, first.length));
    const noise = randomBytes(1 + ((i * 97) % 3000));
    if (i % 4 === 0) client.send(noise.subarray(0, 1500));
    else client.write(noise);
    if (i % 3 === 0) client.reset();
    else if (i % 3 === 1) client.end();
  }
  while (ends(5).waiting > 0) await ends(5).nextFrame();

  const id = transactionId();
  steady.send(check(ufrag, id));
  for (;;) {
    const { frame: up, from } = await ends(5).nextFrame();
    ends(5).send(replyTo(up, success(id)), from);
    if (up.client.port === steady.address.port) break;
  }
  expect(await steady.next()).toEqual(success(id));
});

test('a TCP port that is taken is named, and nothing stays open', async () => {
  const holder = await openRelay({ tcp: TCP });
  const free = await openRelay();
  const { listeners } = free;
  await free.close();
  const tcp = { ...TCP, listeners: holder.tcp!.listeners };

  await expect(openRelay({ listeners, tcp })).rejects.toThrow(
    `Cannot bind TCP 127.0.0.1 port ${tcp.listeners[0]!.port}: another process has it`,
  );
  await openRelay({ listeners });
});

test.each([
  ['0.0.0.0', 'The trunk cannot be "0.0.0.0"'],
  ['::1', 'The trunk of TCP cannot be "::1"; give an IPv4 address.'],
])('a trunk of TCP at %s is refused', async (address, message) => {
  const tcp = { ...TCP, trunk: { address, port: 0 } };
  await expect(openRelay({ tcp })).rejects.toThrow(message);
});
