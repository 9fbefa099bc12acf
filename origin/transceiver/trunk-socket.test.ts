import { createSocket } from 'node:dgram';
import { expect, test } from 'vitest';
import { peerFilter } from './peers.ts';
import { openStage } from './testing/stage.ts';
import { echo } from '../backend/echo.ts';
import { pino } from 'pino';
import { liveDtlsObjects } from './dtls-context.ts';
import { startTransceiver } from './transceiver.ts';

test('peers are those within the networks, mapped or not', () => {
  const isPeer = peerFilter(['10.0.0.0/8', 'fd00::/8']);
  for (const address of ['10.1.2.3', '::ffff:10.1.2.3', 'fd00::1'])
    expect(isPeer(address)).toBe(true);
  for (const address of ['11.0.0.1', '::1', '::ffff:11.0.0.1']) expect(isPeer(address)).toBe(false);
  expect(() => peerFilter(['ten'])).toThrow('ten');
});

test('a taken port is named in the error, and nothing leaks', async () => {
  await using stage = await openStage();
  const options = { id: 1, peers: [], capacity: 1, backend: echo, log: pino({ level: 'silent' }) };
  const { trunk } = stage.transceiver;
  await expect(startTransceiver({ ...options, trunk })).rejects.toThrow(`port ${trunk.port}`);
  expect(liveDtlsObjects()).toBe(1);
});

test('one datagram may hold many frames, and padding after them', async () => {
  await using stage = await openStage();
  const frame = Buffer.alloc(41);
  frame[0] = 0xc4;
  frame[3] = 1;
  frame[40] = 100;
  const socket = createSocket('udp4');
  const { address, port } = stage.transceiver.trunk;
  await new Promise((resolve) =>
    socket.send(Buffer.concat([frame, frame, frame, Buffer.alloc(60)]), port, address, resolve),
  );
  await expect.poll(() => stage.transceiver.dump().counters.drops['unknown-kind']).toBe(3);
  expect(stage.transceiver.dump().counters.drops['not-a-frame']).toBe(0);
  socket.close();
});
