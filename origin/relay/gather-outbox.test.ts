import { randomInt } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { parseAddress } from '../../protocol/address.ts';
import { Counters } from './counters.ts';
import { GatherOutbox } from './gather-outbox.ts';
import { SOL_SOCKET, NativeMemory, hasBatchedCalls, libc } from './libc.ts';
import { makeFrame, readFrames } from './testing/packets.ts';
import { totals } from './testing/totals.ts';
import { UdpEnd, type Datagram } from './testing/udp-end.ts';
import { closeSocketSet, openSocketSets, type SocketSet } from './udp-sockets.ts';

const LOOPBACK = { address: '127.0.0.1', port: 0 };
const MTU = 1452;
/** socket(7) does not name it: no checksums, without which the system refuses to cut messages. */
const SO_NO_CHECK = 11;

function framesOf(count: number, payloadLength: () => number): Buffer[] {
  const address = { address: '192.0.2.1', port: 4000 };
  return Array.from({ length: count }, (_, i) =>
    makeFrame({
      flags: 0,
      listener: i,
      client: address,
      proxy: address,
      payload: Buffer.alloc(payloadLength(), i),
    }),
  );
}

describe.runIf(hasBatchedCalls())('frames to one destination', () => {
  let sockets: SocketSet;
  let peer: UdpEnd;
  let counters: Counters;
  let outbox: GatherOutbox;

  beforeEach(async () => {
    sockets = openSocketSets({ listeners: [LOOPBACK], trunk: LOOPBACK }, 1).sets[0]!;
    peer = await UdpEnd.open();
    counters = new Counters();
    outbox = new GatherOutbox(sockets.trunk.fd, true, MTU, counters);
  });

  afterEach(async () => {
    closeSocketSet(sockets);
    await peer.close();
  });

  test.each([
    ['of one size', 172, 172],
    ['of voice with a varying bit rate', 60, 240],
    ['of any size', 1, 2000],
  ])('%s come in order and whole, in datagrams within the MTU', async (_, least, most) => {
    const frames = framesOf(40, () => randomInt(least, most + 1));
    send(frames);
    const { datagrams, got } = await take(frames.length);
    expect(got).toEqual(frames);
    for (const { bytes } of datagrams) {
      expect(bytes.length <= MTU || readFrames(bytes).length === 1).toBe(true);
    }
    expect(totals(counters).sendErrors).toBe(0);
  });

  test('are padded by less than one more frame would take', async () => {
    const frames = framesOf(60, () => randomInt(100, 300));
    send(frames);
    const { datagrams } = await take(frames.length);
    const largest = Math.max(...frames.map(({ length }) => length));
    for (const { bytes } of datagrams) {
      const used = readFrames(bytes).reduce((sum, frame) => sum + frame.bytes.length, 0);
      expect(bytes.length - used).toBeLessThan(largest);
    }
  });

  test('of one size need no padding', async () => {
    const frames = framesOf(64, () => 172);
    send(frames);
    const { datagrams } = await take(frames.length);
    expect(datagrams.length).toBe(Math.ceil(64 / Math.floor(MTU / frames[0]!.length)));
    const sent = datagrams.reduce((sum, { bytes }) => sum + bytes.length, 0);
    expect(sent).toBe(frames.reduce((sum, { length }) => sum + length, 0));
  });

  test('get through where the system cannot cut messages, all but the first few', async () => {
    const option = new Int32Array([1]);
    libc().setsockopt(sockets.trunk.fd, SOL_SOCKET, SO_NO_CHECK, option, option.byteLength);
    const frames = framesOf(20, () => 172);
    send(frames);
    expect(totals(counters).sendErrors).toBe(1);
    send(frames);
    expect((await take(frames.length)).got).toEqual(frames);
    expect(totals(counters).sendErrors).toBe(1);
  });

  function send(frames: readonly Buffer[]): void {
    const memory = new NativeMemory(frames.reduce((sum, { length }) => sum + length, 0));
    const bytes = new Uint8Array(memory.buffer);
    const to = parseAddress(peer.address.address);
    let at = 0;
    for (const frame of frames) {
      bytes.set(frame, at);
      outbox.add(memory.address + at, frame.length, to, 0, peer.address.port);
      at += frame.length;
    }
    outbox.flush();
  }

  async function take(count: number): Promise<{ datagrams: Datagram[]; got: Buffer[] }> {
    const datagrams: Datagram[] = [];
    const got: Buffer[] = [];
    while (got.length < count) {
      const datagram = await peer.next();
      datagrams.push(datagram);
      got.push(...readFrames(datagram.bytes).map(({ bytes }) => bytes));
    }
    return { datagrams, got };
  }
});
