import { describe, expect, test } from 'vitest';
import { MAX_CLIENT_PACKET } from './packet-batch.ts';
import { frame } from './rfc4571.ts';
import { DTLS, RTP, check, stun, success, transactionId } from './testing/packets.ts';
import { eventually, ufragFor } from './testing/rig.ts';
import { TcpEnd } from './testing/tcp-end.ts';
import { openAnswered, openTcp, sendTo } from './testing/tcp-rig.ts';

/** Milliseconds of a limit that a test waits for. */
const SHORT = 1000;

describe('a connection is ended that', () => {
  const notChecks = [
    ['RTP', RTP],
    ['DTLS', DTLS],
    ['a check without a name', stun(0x0001, transactionId(), [])],
    ['a STUN response', success(transactionId())],
    ['a STUN message that is cut short', check(ufragFor(1, 5)).subarray(0, 30)],
    ['bytes that are no STUN', Buffer.from('SSH-2.0-OpenSSH_10.0\r\n')],
  ] as const;

  test.each(notChecks)('begins with %s', async (_, packet) => {
    const { io, received, totals } = await openTcp();
    const client = await TcpEnd.open(io.listeners[0]!);

    client.send(packet);
    client.send(check(ufragFor(1, 5)));

    await eventually(() => expect(client.isOver).toBe(true));
    expect(totals().tcp).toMatchObject({ open: 0, accepted: 1, closed: { 'not-a-check': 1 } });
    expect(received.filter(({ bytes }) => bytes.equals(packet))).toEqual([]);
  });

  test.each([
    ['HTTP', Buffer.from('GET / HTTP/1.1\r\n\r\n')],
    ['TLS', Buffer.from('160301020001000', 'hex')],
    ['SSH', Buffer.from('SSH-2.0-OpenSSH_10.0\r\n')],
  ])('speaks %s, at once', async (_, bytes) => {
    const { io, received, totals } = await openTcp();
    const client = await TcpEnd.open(io.listeners[0]!);

    client.write(bytes);

    await eventually(() => expect(client.isOver).toBe(true));
    expect(totals().tcp.closed['not-a-check']).toBe(1);
    expect(received).toEqual([]);
  });

  test('says nothing', async () => {
    const { io, totals } = await openTcp({ frame: SHORT });
    const client = await TcpEnd.open(io.listeners[0]!);

    await eventually(() => expect(client.isOver).toBe(true));
    expect(totals().tcp.closed['slow-frame']).toBe(1);
  });

  test('sends its first check too slowly', async () => {
    const { io, received, totals } = await openTcp({ frame: SHORT });
    const client = await TcpEnd.open(io.listeners[0]!);
    const packet = check(ufragFor(1, 5));
    const bytes = frame(packet, 0, packet.length);

    for (let i = 0; !client.isOver; i = Math.min(i + 1, bytes.length - 2)) {
      client.write(bytes.subarray(i, i + 1));
      await new Promise((resolve) => setTimeout(resolve, SHORT / 10));
    }

    expect(totals().tcp.closed['slow-frame']).toBe(1);
    expect(received).toEqual([]);
  });

  test('begins a frame and never ends it', async () => {
    const opened = await openTcp({ frame: SHORT });
    const client = await openAnswered(opened);

    client.write(frame(RTP, 0, RTP.length).subarray(0, 1));

    await eventually(() => expect(client.isOver).toBe(true));
    expect(opened.totals().tcp.closed['slow-frame']).toBe(1);
  });

  test('sends a packet no path could carry', async () => {
    const opened = await openTcp();
    const client = await openAnswered(opened);

    client.send(Buffer.alloc(MAX_CLIENT_PACKET + 1));

    await eventually(() => expect(client.isOver).toBe(true));
    expect(opened.totals().tcp.closed['oversized-frame']).toBe(1);
  });

  test('no transceiver has confirmed, whatever else came back', async () => {
    const opened = await openTcp({ answer: SHORT });
    const confirmed = await openAnswered(opened);
    const client = await TcpEnd.open(opened.io.listeners[0]!);
    client.send(check(ufragFor(1, 5)));
    await eventually(() => expect(opened.received).toHaveLength(2));
    sendTo(opened, client.address, stun(0x0111, transactionId(), []));

    await eventually(() => expect(client.isOver).toBe(true));
    expect(opened.totals().tcp).toMatchObject({ open: 1, closed: { unanswered: 1 } });
    expect(confirmed.isOver).toBe(false);
  });

  test('is idle, with empty frames too', async () => {
    const opened = await openTcp({ idle: SHORT });
    const client = await openAnswered(opened);

    while (!client.isOver) {
      client.send(Buffer.alloc(0));
      await new Promise((resolve) => setTimeout(resolve, SHORT / 10));
    }

    expect(opened.totals().tcp.closed.idle).toBe(1);
  });
});

describe('too many connections', () => {
  test('of one address: its next is refused, and another’s is not', async () => {
    const opened = await openTcp({ maxPerSite: 2 });
    const held = [await openAnswered(opened), await openAnswered(opened)];

    const refused = await TcpEnd.open(opened.io.listeners[0]!);
    await eventually(() => expect(refused.isOver).toBe(true));
    await openAnswered(opened, '127.0.0.2');

    expect(held.map(({ isOver }) => isOver)).toEqual([false, false]);
    expect(opened.totals().tcp).toMatchObject({
      open: 3,
      accepted: 3,
      closed: { 'too-many-of-one': 1 },
    });
    held[0]!.end();
    await eventually(() => expect(opened.totals().tcp.open).toBe(2));
    await openAnswered(opened);
  });

  test('all in all: the oldest that nobody has confirmed gives way', async () => {
    const opened = await openTcp({ maxConnections: 3 });
    const confirmed = await openAnswered(opened);
    const [oldest, younger] = [
      await TcpEnd.open(opened.io.listeners[0]!),
      await TcpEnd.open(opened.io.listeners[0]!),
    ];
    await eventually(() => expect(opened.totals().tcp.open).toBe(3));

    await openAnswered(opened);

    await eventually(() => expect(oldest.isOver).toBe(true));
    expect([confirmed, younger].map(({ isOver }) => isOver)).toEqual([false, false]);
    expect(opened.totals().tcp).toMatchObject({ open: 3, closed: { 'too-many': 1 } });
  });

  test('all in all, and all confirmed: the next is refused', async () => {
    const opened = await openTcp({ maxConnections: 2 });
    const held = [await openAnswered(opened), await openAnswered(opened)];

    const refused = await TcpEnd.open(opened.io.listeners[0]!);

    await eventually(() => expect(refused.isOver).toBe(true));
    expect(held.map(({ isOver }) => isOver)).toEqual([false, false]);
    expect(opened.totals().tcp).toMatchObject({ open: 2, closed: { 'too-many': 1 } });
  });
});

describe('a connection that ends', () => {
  test.each(['end', 'reset'] as const)('by %s leaves nothing behind', async (how) => {
    const opened = await openTcp();
    const clients = [await openAnswered(opened), await TcpEnd.open(opened.io.listeners[0]!)];

    for (const client of clients) client[how]();

    await eventually(() => expect(opened.totals().tcp).toMatchObject({ open: 0, accepted: 2 }));
    const reasons = Object.values(opened.totals().tcp.closed);
    expect(reasons.reduce((sum, count) => sum + count, 0)).toBe(0);
    await openAnswered(opened);
  });

  test('while packets for it are on their way stops nothing', async () => {
    const opened = await openTcp();
    for (let i = 0; i < 20; i++) {
      const client = await openAnswered(opened);
      client.reset();
      for (let sent = 0; sent < 20; sent++) sendTo(opened, client.address, RTP);
    }
    await eventually(() => expect(opened.totals().tcp.open).toBe(0));
    await openAnswered(opened);
  });
});
