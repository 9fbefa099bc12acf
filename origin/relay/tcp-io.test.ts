import { describe, expect, test } from 'vitest';
import { parseAddress } from '../../protocol/address.ts';
import { Counters } from './counters.ts';
import { MAX_CLIENT_PACKET, TRUNK_SOCKET } from './packet-batch.ts';
import { frame } from './rfc4571.ts';
import { tcpIo } from './tcp-io.ts';
import { DTLS, RTP, check, makeFrame, readFrames } from './testing/packets.ts';
import { ANY_PORT, eventually, openEnd, ufragFor } from './testing/rig.ts';
import { TcpEnd } from './testing/tcp-end.ts';
import { openAnswered, openTcp, receivedFrom, sendTo } from './testing/tcp-rig.ts';

describe('the sockets', () => {
  test('serves IPv4 and IPv6 on one port, and a trunk of its own', async () => {
    const any = await openTcp({}, [{ address: '0.0.0.0', port: 0 }]);
    const [listener] = any.io.listeners;
    await any.io.close();
    const both = [listener!, { address: '::', port: listener!.port }];

    const { io } = await openTcp({}, both);

    expect(io.listeners).toEqual(both);
    expect(io.trunk.port).toBeGreaterThan(0);
  });

  test('names a port that is taken, and leaves nothing open', async () => {
    const holder = await openTcp();
    const free = await openTcp();
    const listeners = [free.io.listeners[0]!, holder.io.listeners[0]!];
    await free.io.close();

    await expect(openTcp({}, listeners)).rejects.toThrow(
      `Cannot bind TCP 127.0.0.1 port ${listeners[1]!.port}: another process has it`,
    );
    await openTcp({}, listeners.slice(0, 1));
  });

  test('names a trunk that is taken, and leaves nothing open', async () => {
    const holder = await openEnd();
    const free = await openTcp();
    const { listeners } = free.io;
    await free.io.close();
    const options = { listeners, trunk: holder.address };

    await expect(tcpIo()(options, new Counters())).rejects.toThrow('Cannot bind UDP');
    await openTcp({}, listeners);
  });

  test.each(['192.0.2.1', 'relay.example'])('refuses to bind %s', async (address) => {
    await expect(openTcp({}, [{ address, port: 0 }])).rejects.toThrow(address);
  });

  test('ends its connections and frees its ports when closed, and sends no more', async () => {
    const opened = await openTcp();
    const client = await openAnswered(opened);

    await opened.io.close();
    sendTo(opened, client.address, RTP);
    await opened.io.close();

    await eventually(() => expect(client.isOver).toBe(true));
    await openTcp({}, opened.io.listeners);
  });
});

describe('packets', () => {
  test('come with their client’s address and listener, without their frames', async () => {
    const { io, received } = await openTcp({}, [ANY_PORT, { address: '::1', port: 0 }]);
    const ends = [await TcpEnd.open(io.listeners[0]!), await TcpEnd.open(io.listeners[1]!)];
    const first = check(ufragFor(1, 5));

    for (const end of ends) end.send(first);
    await eventually(() => expect(received).toHaveLength(2));
    for (const end of ends) end.send(DTLS);
    await eventually(() => expect(received).toHaveLength(4));

    const expected = ends.flatMap(({ address }, i) => [
      receivedFrom(address, first, i),
      receivedFrom(address, DTLS, i),
    ]);
    expect(received.toSorted((a, b) => a.socket - b.socket)).toEqual(expected);
  });

  test('come whole and in order, however the stream is cut', async () => {
    const { io, received } = await openTcp();
    const client = await TcpEnd.open(io.listeners[0]!);
    const packets = [
      check(ufragFor(1, 5)),
      ...Array.from({ length: 300 }, (_, i) => Buffer.alloc(1 + (i % 90), i)),
      Buffer.alloc(MAX_CLIENT_PACKET, 'x'),
    ];
    const stream = Buffer.concat(packets.map((packet) => frame(packet, 0, packet.length)));

    for (let at = 0; at < stream.length; at += 177) client.write(stream.subarray(at, at + 177));

    await eventually(() => expect(received.map(({ bytes }) => bytes)).toEqual(packets));
  });

  test('go to the connection they name, in frames', async () => {
    const opened = await openTcp();
    const [one, other] = [await openAnswered(opened), await openAnswered(opened)];

    sendTo(opened, one.address, RTP);
    sendTo(opened, other.address, DTLS);

    expect(await one.next()).toEqual(RTP);
    expect(await other.next()).toEqual(DTLS);
    expect([one.waiting, other.waiting]).toEqual([0, 0]);
  });

  test('are sent as they were, when their slab holds others', async () => {
    const opened = await openTcp();
    const client = await openAnswered(opened);
    const slab = Buffer.from(RTP);

    sendTo(opened, client.address, slab);
    slab.fill(0);

    expect(await client.next()).toEqual(RTP);
  });

  test('for a connection that is not there, or came to another listener, are dropped', async () => {
    const opened = await openTcp({}, [ANY_PORT, ANY_PORT]);
    const client = await openAnswered(opened);

    sendTo(opened, { ...client.address, port: 9 }, RTP);
    sendTo(opened, client.address, RTP, 1);

    expect(opened.totals().drops['no-connection']).toBe(2);
    client.reset();
    await eventually(() => expect(opened.totals().tcp.open).toBe(0));
    sendTo(opened, client.address, RTP);
    expect(opened.totals().drops['no-connection']).toBe(3);
  });

  test('the trunk is one of datagrams', async () => {
    const { io, received } = await openTcp();
    const peer = await openEnd();
    const frames = [RTP, DTLS].map((payload) =>
      makeFrame({ flags: 0, listener: 0, client: ANY_PORT, proxy: ANY_PORT, payload }),
    );

    for (const bytes of frames) {
      const { address, port } = peer.address;
      io.sendTrunk(bytes, 0, bytes.length, parseAddress(address), 0, port);
    }
    io.flush();
    const { bytes, from: source } = await peer.next();
    peer.send(bytes, io.trunk);

    expect(source).toEqual(io.trunk);
    expect(readFrames(bytes).map(({ payload }) => payload)).toEqual([RTP, DTLS]);
    await eventually(() =>
      expect(received).toEqual([receivedFrom(peer.address, bytes, TRUNK_SOCKET)]),
    );
  });
});

describe('a client that takes nothing', () => {
  test('loses what it does not take, bounds what waits, and is served again later', async () => {
    const maxQueued = 16 * 1024;
    const opened = await openTcp({ maxQueued });
    const client = await openAnswered(opened);
    const neighbour = await openAnswered(opened);
    const packet = Buffer.alloc(1200, 'x');
    const { drops } = opened.totals();
    client.pause();

    let sent = 0;
    while (opened.totals().drops.congested === drops.congested) {
      sendTo(opened, client.address, packet);
      sent++;
      // Lets the system take what it will.
      if (sent % 100 === 0) await new Promise(setImmediate);
    }

    sendTo(opened, neighbour.address, RTP);
    expect(await neighbour.next()).toEqual(RTP);
    client.resume();
    for (let i = 0; i < sent - 1; i++) expect(await client.next()).toEqual(packet);
    await eventually(() => {
      sendTo(opened, client.address, RTP);
      expect(client.waiting).toBeGreaterThan(0);
    });
    expect(await client.next()).toEqual(RTP);
  });
});
