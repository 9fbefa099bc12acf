import { createSocket } from 'node:dgram';
import { createServer } from 'node:net';
import { networkInterfaces } from 'node:os';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { choosePorts, LOOPBACK } from './ports.ts';

test('gives a wanted port that is free, and gives it back', async () => {
  const { probe } = await choosePorts({ probe: { protocol: 'udp' } });
  const ports = await choosePorts({ relay: { protocol: 'udp', wanted: probe! } });
  expect(ports).toEqual({ relay: probe });
  const socket = createSocket('udp4').bind(probe, LOOPBACK);
  await once(socket, 'listening');
  socket.close();
});

test('gives another one when the wanted port is taken', async () => {
  const taken = createSocket('udp4').bind(0, LOOPBACK);
  await once(taken, 'listening');
  const wanted = taken.address().port;
  const { relay, signaling } = await choosePorts({
    relay: { protocol: 'udp', wanted },
    signaling: { protocol: 'tcp', wanted },
  });
  expect(relay).not.toBe(wanted);
  // TCP and UDP ports are apart: what is taken in one may be free in the other.
  expect(signaling).toBe(wanted);
  taken.close();
});

test('fails when a required port is taken, and names it', async () => {
  const taken = createSocket('udp4').bind(0, LOOPBACK);
  await once(taken, 'listening');
  const wanted = taken.address().port;
  const relay = { protocol: 'udp', wanted, required: true } as const;
  await expect(choosePorts({ relay })).rejects.toThrow(`UDP port ${wanted} of localhost is taken`);
  taken.close();
  await once(taken, 'close');
  expect(await choosePorts({ relay })).toEqual({ relay: wanted });
});

const hasIpv6 = Object.values(networkInterfaces()).some((list) =>
  list?.some(({ address }) => address === '::1'),
);

test.skipIf(!hasIpv6)('a TCP port that another holds on ::1 is taken too', async () => {
  const taken = createServer().listen(0, '::1');
  await once(taken, 'listening');
  const address = taken.address();
  const wanted = typeof address === 'object' ? address!.port : 0;
  const { edge } = await choosePorts({ edge: { protocol: 'tcp', wanted } });
  expect(edge).not.toBe(wanted);
  taken.close();
});

test('never gives one port twice', async () => {
  const wishes = Object.fromEntries(
    Array.from({ length: 50 }, (_, i) => [`p${i}`, { protocol: 'udp', wanted: 29_999 } as const]),
  );
  const ports = Object.values(await choosePorts(wishes));
  expect(new Set(ports).size).toBe(50);
});
