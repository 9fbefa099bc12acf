import { expect, test } from 'vitest';
import { UdpClient } from '../support/udp-client.ts';
import { until } from '../support/until.ts';
import { ImpairedPath } from './impaired-path.ts';
import { UdpEcho } from './udp-echo.ts';

const SEED = 42;
const PACKETS = 400;

/** Sent at once: the kernel would drop what is too much for a socket's buffer. */
const BURST = 50;

function numbered(i: number): Buffer {
  const packet = Buffer.alloc(100);
  packet.writeUInt32BE(i);
  return packet;
}

test('each client gets its own packets back, and in order where there is no impairment', async () => {
  await using echo = await UdpEcho.open();
  await using path = await ImpairedPath.open(echo.address, {}, SEED);
  await using one = await UdpClient.open();
  await using other = await UdpClient.open();
  for (let i = 0; i < 50; i++) {
    await one.send(numbered(i), path.address);
    await other.send(numbered(1000 + i), path.address);
  }
  await until(() => one.received.length === 50 && other.received.length === 50);
  const numbers = Array.from({ length: 50 }, (_, i) => i);
  expect(one.received.map((it) => it.readUInt32BE())).toEqual(numbers);
  expect(other.received.map((it) => it.readUInt32BE())).toEqual(numbers.map((i) => 1000 + i));
  expect(echo.sources.size).toBe(2);
});

test('what comes back is what was counted as passed, some of it twice and behind later ones', async () => {
  await using echo = await UdpEcho.open();
  const impairments = { loss: 0.1, jitter: 5, reordered: 0.1, duplicated: 0.1 };
  await using path = await ImpairedPath.open(echo.address, impairments, SEED);
  await using client = await UdpClient.open();
  const { up, down } = path;
  for (let i = 0; i < PACKETS; i++) {
    await client.send(numbered(i), path.address);
    if (i % BURST === 0) await until(() => up.counts.packets === i + 1);
  }
  const passed = ({ packets, lost, duplicated }: typeof up.counts) => packets - lost + duplicated;
  await until(() => up.counts.packets === PACKETS);
  await until(() => down.counts.packets === passed(up.counts));
  await until(() => client.received.length === passed(down.counts));
  for (const { counts } of [up, down]) {
    for (const count of [counts.lost, counts.reordered, counts.duplicated]) {
      expect(count / PACKETS).toBeGreaterThan(0.05);
      expect(count / PACKETS).toBeLessThan(0.15);
    }
  }
  const numbers = client.received.map((it) => it.readUInt32BE());
  expect(new Set(numbers).size).toBeLessThan(numbers.length);
  expect(numbers).not.toEqual(numbers.toSorted((a, b) => a - b));
  expect(up.counts).not.toEqual(down.counts);
});

test('a cut path passes nothing, and everything once it is whole again', async () => {
  await using echo = await UdpEcho.open();
  await using path = await ImpairedPath.open(echo.address, {}, SEED);
  await using client = await UdpClient.open();
  path.isCut = true;
  await client.send(numbered(1), path.address);
  await until(() => path.up.counts.cut === 1);
  path.isCut = false;
  await client.send(numbered(2), path.address);
  await until(() => client.received.length > 0);
  expect(client.received.map((it) => it.readUInt32BE())).toEqual([2]);
});
