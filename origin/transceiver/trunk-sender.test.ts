import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { expect, onTestFinished, test } from 'vitest';
import { TRUNK_HEADER_LENGTH, TRUNK_MTU, trunkFrameEnd } from '../../protocol/trunk.ts';
import { TrunkSender } from './trunk-sender.ts';
import type { Path } from './trunk-socket.ts';

const LOOPBACK = '127.0.0.1';

async function bound(): Promise<Socket> {
  const socket = createSocket('udp4').bind(0, LOOPBACK);
  onTestFinished(() => void socket.close());
  await once(socket, 'listening');
  return socket;
}

/** A socket that takes what is sent down its path. */
async function relay() {
  const socket = await bound();
  const datagrams: Buffer[] = [];
  socket.on('message', (datagram) => datagrams.push(datagram));
  const header = Buffer.alloc(TRUNK_HEADER_LENGTH);
  header[0] = 0xc4;
  const path: Path = {
    key: 'path',
    header,
    client: { address: '192.0.2.1', port: 9 },
    source: { address: LOOPBACK, port: socket.address().port },
  };
  return { datagrams, path };
}

async function sender() {
  const counters = { framesOut: 0, bytesOut: 0, sendErrors: 0 };
  return { counters, sender: new TrunkSender(await bound(), counters) };
}

const payloadsOf = (datagram: Buffer) => {
  const payloads: string[] = [];
  for (let at = 0, next; at < datagram.length; at = next) {
    next = trunkFrameEnd(datagram, at, datagram.length);
    if (next < 0) throw new Error('not a frame');
    payloads.push(datagram.toString('latin1', at + TRUNK_HEADER_LENGTH, next));
  }
  return payloads;
};

test('what goes to one relay in one turn shares a datagram, in order', async () => {
  const [one, other] = [await relay(), await relay()];
  const { sender: it, counters } = await sender();
  it.send(one.path, Buffer.from('a'));
  it.send(other.path, Buffer.from('b'));
  it.send(one.path, Buffer.from('c'));
  await expect.poll(() => one.datagrams.length + other.datagrams.length).toBe(2);
  expect(one.datagrams.map(payloadsOf)).toEqual([['a', 'c']]);
  expect(other.datagrams.map(payloadsOf)).toEqual([['b']]);
  expect(counters).toEqual({ framesOut: 3, bytesOut: 3, sendErrors: 0 });

  it.send(one.path, Buffer.from('d'));
  await expect.poll(() => one.datagrams.map(payloadsOf)).toEqual([['a', 'c'], ['d']]);
});

test('no datagram is longer than the MTU, but for a frame that is so alone', async () => {
  const { datagrams, path } = await relay();
  const { sender: it } = await sender();
  const sizes = [700, 672, 1, 1_500, 1_411, 1];
  for (const size of sizes) it.send(path, Buffer.alloc(size, 'x'));
  await expect.poll(() => datagrams.flatMap(payloadsOf).length).toBe(sizes.length);
  expect(datagrams.flatMap(payloadsOf).map((payload) => payload.length)).toEqual(sizes);
  const lengths = datagrams.map((datagram) => datagram.length);
  expect(lengths).toEqual([TRUNK_MTU, 41, 1_540, TRUNK_MTU - 1, 41]);
});

test('many relays at a time each get theirs', async () => {
  const relays = await Promise.all(Array.from({ length: 80 }, relay));
  const { sender: it } = await sender();
  for (const { path } of relays) it.send(path, Buffer.from('a'));
  await expect.poll(() => relays.every(({ datagrams }) => datagrams.length === 1)).toBe(true);
});

test('closes once the kernel has all, and sends nothing any more', async () => {
  const { datagrams, path } = await relay();
  const { sender: it, counters } = await sender();
  it.send(path, Buffer.from('a'));
  await it.close();
  it.send(path, Buffer.from('b'));
  expect(counters.framesOut).toBe(1);
  await expect.poll(() => datagrams.map(payloadsOf)).toEqual([['a']]);
});

test('the frames that the kernel refuses are counted', async () => {
  const { path } = await relay();
  const { sender: it, counters } = await sender();
  const nowhere = { ...path, source: { address: '255.255.255.255', port: 9 } };
  it.send(nowhere, Buffer.from('a'));
  it.send(nowhere, Buffer.from('b'));
  await it.close();
  expect(counters.sendErrors).toBe(2);
});
