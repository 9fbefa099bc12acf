import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { expect, onTestFinished, test } from 'vitest';
import { udpDrops } from './udp-drops.ts';

test.runIf(process.platform === 'linux')(
  'what a full socket drops is found at its process',
  async () => {
    const full = createSocket({ type: 'udp4', recvBufferSize: 1 }).bind(0, '127.0.0.1');
    const sender = createSocket('udp4');
    onTestFinished(() => void full.close());
    onTestFinished(() => void sender.close());
    await once(full, 'listening');
    const here = { here: process.pid };
    const { here: before } = await udpDrops(here);
    const { port } = full.address();
    // Nothing is read while these callbacks are awaited one by one in one turn of the loop.
    const packets = Array.from({ length: 200 }, () => Buffer.alloc(1000));
    full.on('message', () => undefined);
    await Promise.all(
      packets.map(
        (packet) =>
          new Promise<void>((sent) => sender.send(packet, port, '127.0.0.1', () => sent())),
      ),
    );
    const { here: after } = await udpDrops(here);
    expect(after).toBeGreaterThan(before!);
  },
);
