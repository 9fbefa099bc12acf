/** What every I/O back end must do, as tests over real sockets on loopback. */
import { describe, expect, onTestFinished, test } from 'vitest';
import { parseAddress } from '../../../protocol/address.ts';
import type { TrunkAddress } from '../../../protocol/footprint.ts';
import { TRUNK_HEADER_LENGTH, TRUNK_MTU } from '../../../protocol/trunk.ts';
import { Counters } from '../counters.ts';
import type { OpenIo, RelayIo } from '../io.ts';
import { totals } from './totals.ts';
import {
  MAX_CLIENT_PACKET,
  MAX_TRUNK_DATAGRAM,
  TRUNK_SOCKET,
  type PacketBatch,
} from '../packet-batch.ts';
import { makeFrame, readFrames } from './packets.ts';
import { ANY_PORT, eventually, openEnd } from './rig.ts';

interface Received {
  readonly bytes: Buffer;
  readonly source: Buffer;
  readonly port: number;
  readonly socket: number;
}

/** Copies a batch, as its slab serves the next one soon. */
function copyOf(batch: PacketBatch): Received[] {
  return Array.from({ length: batch.count }, (_, i) => ({
    bytes: Buffer.from(batch.bytes.slice(batch.start[i], batch.end[i])),
    source: Buffer.from(batch.source.slice(i * 16, i * 16 + 16)),
    port: batch.port[i]!,
    socket: batch.socket[i]!,
  }));
}

function bytesOf({ address }: TrunkAddress): Buffer {
  return Buffer.from(parseAddress(address));
}

function trunkFrame(size: number, fill: string): Buffer {
  const payload = Buffer.alloc(size - TRUNK_HEADER_LENGTH, fill);
  return makeFrame({ flags: 0, listener: 0, client: ANY_PORT, proxy: ANY_PORT, payload });
}

function sendPublic(io: RelayIo, listener: number, bytes: Uint8Array, to: TrunkAddress): void {
  io.sendPublic(listener, bytes, 0, bytes.length, parseAddress(to.address), 0, to.port);
}

function sendTrunk(io: RelayIo, bytes: Uint8Array, to: TrunkAddress): void {
  io.sendTrunk(bytes, 0, bytes.length, parseAddress(to.address), 0, to.port);
}

/** Runs the contract against a back end. */
export function describeIo(name: string, openIo: OpenIo): void {
  async function open(listeners = [ANY_PORT], counters = new Counters()): Promise<RelayIo> {
    const io = await openIo({ listeners, trunk: ANY_PORT }, counters);
    onTestFinished(() => io.close());
    return io;
  }

  describe(`the I/O back end ${name}`, () => {
    test('takes free ports and tells them', async () => {
      const io = await open([ANY_PORT, { address: '::1', port: 0 }]);
      expect(io.listeners.map(({ address }) => address)).toEqual(['127.0.0.1', '::1']);
      const ports = [...io.listeners, io.trunk].map(({ port }) => port);
      expect(Math.min(...ports)).toBeGreaterThan(0);
    });

    test('names a port that is taken', async () => {
      const holder = await open();
      const opening = openIo({ listeners: holder.listeners, trunk: ANY_PORT }, new Counters());
      await expect(opening).rejects.toThrow(
        `Cannot bind UDP 127.0.0.1 port ${holder.listeners[0]!.port}: another process has it`,
      );
    });

    test('refuses an address that this machine does not have, or that is none', async () => {
      for (const address of ['192.0.2.1', 'relay.example']) {
        const opening = openIo(
          { listeners: [{ address, port: 0 }], trunk: ANY_PORT },
          new Counters(),
        );
        await expect(opening).rejects.toThrow(address);
      }
    });

    test('serves IPv4 and IPv6 on one port', async () => {
      const any = await open([{ address: '0.0.0.0', port: 0 }]);
      const both = [any.listeners[0]!, { address: '::', port: any.listeners[0]!.port }];
      await any.close();
      const io = await open(both);
      expect(io.listeners).toEqual(both);
    });

    test('says of each packet who sent it, and to which socket', async () => {
      const io = await open([ANY_PORT, { address: '::1', port: 0 }]);
      const received: Received[] = [];
      io.start((batch) => received.push(...copyOf(batch)));
      const [ipv4, ipv6] = [await openEnd(), await openEnd('::1')];

      ipv4.send(Buffer.from('one'), io.listeners[0]!);
      ipv6.send(Buffer.from('two'), io.listeners[1]!);
      ipv4.send(Buffer.from('three'), io.trunk);

      await eventually(() => expect(received).toHaveLength(3));
      const [a, b] = [ipv4.address, ipv6.address];
      expect(received.toSorted((one, two) => one.socket - two.socket)).toEqual([
        { bytes: Buffer.from('one'), source: bytesOf(a), port: a.port, socket: 0 },
        { bytes: Buffer.from('two'), source: bytesOf(b), port: b.port, socket: 1 },
        { bytes: Buffer.from('three'), source: bytesOf(a), port: a.port, socket: TRUNK_SOCKET },
      ]);
    });

    test('leaves room for a trunk header in front of a client’s packet', async () => {
      const io = await open();
      const received: Received[] = [];
      io.start((batch) => {
        for (let i = 0; i < batch.count; i++) {
          batch.bytes.fill(0xff, batch.start[i]! - TRUNK_HEADER_LENGTH, batch.start[i]);
        }
        received.push(...copyOf(batch));
      });
      const client = await openEnd();
      const packets = ['one', 'two', 'three'].map((text) => Buffer.from(text));

      for (const packet of packets) client.send(packet, io.listeners[0]!);

      await eventually(() => expect(received.map(({ bytes }) => bytes)).toEqual(packets));
    });

    test('takes packets up to their limits, counts larger ones and goes on', async () => {
      const counters = new Counters();
      const io = await open([ANY_PORT], counters);
      const lengths: number[] = [];
      io.start((batch) => lengths.push(...copyOf(batch).map(({ bytes }) => bytes.length)));
      const end = await openEnd();

      end.send(Buffer.alloc(MAX_CLIENT_PACKET + 1), io.listeners[0]!);
      end.send(Buffer.alloc(MAX_CLIENT_PACKET), io.listeners[0]!);
      end.send(Buffer.alloc(MAX_TRUNK_DATAGRAM + 1), io.trunk);
      end.send(Buffer.alloc(MAX_TRUNK_DATAGRAM), io.trunk);

      await eventually(() =>
        expect(lengths.toSorted((a, b) => a - b)).toEqual([MAX_CLIENT_PACKET, MAX_TRUNK_DATAGRAM]),
      );
      await eventually(() => expect(totals(counters).drops.oversized).toBe(2));
    });

    test('receives more packets at once than a batch holds, in their order', async () => {
      const io = await open();
      const received: number[] = [];
      io.start((batch) => received.push(...copyOf(batch).map(({ bytes }) => bytes.readUInt16BE())));
      const client = await openEnd();
      const numbers = Array.from({ length: 300 }, (_, i) => i);

      for (const i of numbers) client.send(Buffer.of(i >> 8, i & 0xff), io.listeners[0]!);

      await eventually(() => expect(received).toEqual(numbers));
    });

    test('answers from the listener’s own address', async () => {
      const io = await open([ANY_PORT, { address: '::1', port: 0 }]);
      const ends = [await openEnd(), await openEnd('::1')];

      for (const [i, end] of ends.entries()) sendPublic(io, i, Buffer.from('hello'), end.address);
      io.flush();

      for (const [i, end] of ends.entries()) {
        expect(await end.next()).toEqual({ bytes: Buffer.from('hello'), from: io.listeners[i] });
      }
    });

    test('has sent the bytes as they were at the flush', async () => {
      const io = await open();
      const [client, peer] = [await openEnd(), await openEnd()];
      const frame = trunkFrame(100, 'x');
      const slab = Buffer.from(frame);

      sendPublic(io, 0, slab, client.address);
      sendTrunk(io, slab, peer.address);
      io.flush();
      slab.fill(0);

      expect((await client.next()).bytes).toEqual(frame);
      expect((await peer.next()).bytes).toEqual(frame);
    });

    test('keeps the order of frames for each destination, in datagrams no longer than the MTU', async () => {
      const io = await open();
      const peers = [await openEnd(), await openEnd()];
      const sizes = [400, TRUNK_MTU + 100, 400, 700, 400, TRUNK_MTU, 60];
      const frames = sizes.map((size, i) => trunkFrame(size, String(i)));

      for (const frame of frames) for (const peer of peers) sendTrunk(io, frame, peer.address);
      io.flush();

      for (const peer of peers) {
        const got: Buffer[] = [];
        while (got.length < frames.length) {
          const { bytes, from } = await peer.next();
          const inside = readFrames(bytes);
          expect(from).toEqual(io.trunk);
          expect(bytes.length <= TRUNK_MTU || inside.length === 1).toBe(true);
          got.push(...inside.map((frame) => frame.bytes));
        }
        expect(got).toEqual(frames);
      }
    });

    test('counts what cannot be sent, and goes on', async () => {
      const counters = new Counters();
      const io = await open([ANY_PORT], counters);
      const client = await openEnd();
      const refused = [
        { address: '::1', port: 4000 },
        { address: '127.0.0.1', port: 0 },
      ];

      for (const to of refused) {
        sendPublic(io, 0, Buffer.from('lost'), to);
        sendTrunk(io, trunkFrame(100, 'x'), to);
      }
      sendPublic(io, 0, Buffer.alloc(65_520), client.address);
      io.flush();

      await eventually(() => expect(totals(counters).sendErrors).toBe(5));
      sendPublic(io, 0, Buffer.from('hello'), client.address);
      io.flush();
      expect((await client.next()).bytes).toEqual(Buffer.from('hello'));
    });

    test('frees its ports when closed, and sends no more', async () => {
      const io = await open();
      io.start(() => {});
      const client = await openEnd();

      await io.close();
      sendPublic(io, 0, Buffer.from('late'), client.address);
      io.flush();
      await io.close();

      const again = await open([...io.listeners]);
      sendPublic(again, 0, Buffer.from('hello'), client.address);
      again.flush();
      expect((await client.next()).bytes).toEqual(Buffer.from('hello'));
    });
  });
}
