import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseAddress } from '../../protocol/address.ts';
import { TRUNK_DOWN, TRUNK_MAGIC, TRUNK_PASSED, trunkFrameEnd } from '../../protocol/trunk.ts';
import { MemoryDirectory } from '../directory.ts';
import type { OpenIo, RelayIo } from './io.ts';
import { MAX_TRUNK_DATAGRAM, PacketBatch, TRUNK_SOCKET } from './packet-batch.ts';
import { startRelay, type Relay } from './relay.ts';
import { check, makeFrame, stun } from './testing/packets.ts';
import { KEY, SILENT, ufragFor } from './testing/rig.ts';

const LISTENER = { address: '192.0.2.10', port: 3478 };
const TRUNK = { address: '10.0.0.1', port: 4000 };
const PEER = { address: '10.0.0.2', port: 4000 };
/** Longer than a client's packet may be, in bytes. */
const LONGEST_NOISE = 2048;
const OUTSIDER = { address: '198.51.100.7', port: 5000 };

interface Sent {
  readonly side: 'public' | 'trunk';
  readonly bytes: Buffer;
  readonly address: Buffer;
}

/** An I/O back end without a network, so that a million packets can be thrown at a relay. */
function recordingIo(): { open: OpenIo; sent: Sent[]; receive(batch: PacketBatch): void } {
  const sent: Sent[] = [];
  let onBatch: ((batch: PacketBatch) => void) | undefined;
  const record = (side: Sent['side'], data: Uint8Array, start: number, end: number) => ({
    side,
    bytes: Buffer.from(data.subarray(start, end)),
  });
  const io: RelayIo = {
    listeners: [LISTENER],
    trunk: TRUNK,
    start: (handler) => {
      onBatch = handler;
    },
    sendPublic: (_listener, data, start, end, address, at) => {
      sent.push({
        ...record('public', data, start, end),
        address: Buffer.from(address.subarray(at, at + 16)),
      });
    },
    sendTrunk: (data, start, end, address, at) => {
      sent.push({
        ...record('trunk', data, start, end),
        address: Buffer.from(address.subarray(at, at + 16)),
      });
    },
    flush: () => {},
    close: async () => {},
  };
  return { open: async () => io, sent, receive: (batch) => onBatch?.(batch) };
}

async function openFuzzed(): Promise<{ relay: Relay; sent: Sent[]; receive: ReceiveOne }> {
  const io = recordingIo();
  const transceivers = new MemoryDirectory();
  transceivers.add(5, { address: '10.0.0.5', port: 4000 });
  const relay = await startRelay(
    {
      cluster: 1,
      listeners: [LISTENER],
      trunk: TRUNK,
      peers: ['10.0.0.0/8'],
      routes: [{ cluster: 2, region: 'eu-central-1', relays: [PEER] }],
      routingKeys: [KEY],
      transceivers,
      log: SILENT,
    },
    io.open,
  );
  const batch = new PacketBatch(1);
  const receive: ReceiveOne = (packet, from, socket) => {
    batch.count = 0;
    if (batch.push(packet, parseAddress(from.address), from.port, socket)) io.receive(batch);
  };
  return { relay, sent: io.sent, receive };
}

type ReceiveOne = (packet: Uint8Array, from: typeof PEER, socket: number) => void;

const noise = fc.uint8Array({ maxLength: LONGEST_NOISE });
const attribute = fc.tuple(fc.constantFrom(0x0006, 0x0008, 0x0020, 0xc057), fc.uint8Array());
const stunLike = fc
  .tuple(
    fc.constantFrom(0x0001, 0x0101, 0x0111, 0x0200, 0x0011),
    fc.uint8Array({ minLength: 12, maxLength: 12 }),
    fc.array(attribute, { maxLength: 4 }),
  )
  .map(([type, id, attributes]) => stun(type, id, attributes));
const tokened = fc
  .constantFrom(ufragFor(1, 5), ufragFor(2, 7), ufragFor(3, 1))
  .map((u) => check(u));
/** A packet with some bytes changed: close to right is where parsers break. */
const bent = (packets: fc.Arbitrary<Uint8Array>) =>
  fc
    .tuple(packets, fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 3 }), fc.nat(4))
    .map(([packet, changes, cut]) => {
      const copy = Uint8Array.from(packet);
      for (const [at, value] of changes) copy[at % Math.max(1, copy.length)] = value;
      return copy.subarray(0, Math.max(0, copy.length - cut));
    });
const clientPacket = fc.oneof(noise, stunLike, tokened, bent(fc.oneof(stunLike, tokened)));
const frame = fc
  .record({
    flags: fc.nat(3),
    listener: fc.constantFrom(0, 1, 255),
    client: fc.constantFrom(
      OUTSIDER,
      { address: '2001:db8::1', port: 1 },
      { ...OUTSIDER, port: 0 },
    ),
    proxy: fc.constantFrom(TRUNK, PEER, OUTSIDER),
    payload: clientPacket.map((packet) => Buffer.from(packet.length > 0 ? packet : [0])),
  })
  .map(makeFrame);
const trunkDatagram = fc.oneof(
  noise,
  frame,
  bent(frame),
  fc.array(frame, { maxLength: 4 }).map((frames) => Buffer.concat(frames)),
);

test('whatever a client sends, at most one frame goes up, to the trunk alone', async () => {
  const { relay, sent, receive } = await openFuzzed();
  fc.assert(
    fc.property(clientPacket, fc.nat(0xffff), (packet, port) => {
      sent.length = 0;
      receive(packet, { address: OUTSIDER.address, port }, 0);
      expect(sent.length).toBeLessThanOrEqual(1);
      for (const { side, bytes } of sent) {
        expect(side).toBe('trunk');
        expect(bytes[0]).toBe(TRUNK_MAGIC);
        expect(trunkFrameEnd(bytes, 0, bytes.length)).toBe(bytes.length);
        expect(bytes.subarray(-packet.length)).toEqual(Buffer.from(packet));
      }
    }),
    { numRuns: 3000 },
  );
  const { fromClients, toTrunk, drops } = relay.counters();
  const dropped = Object.values(drops).reduce((sum, count) => sum + count, 0);
  expect(toTrunk.packets + dropped).toBe(fromClients.packets);
  expect(toTrunk.packets).toBeGreaterThan(0);
});

test('whatever a peer sends, frames go where their direction says, and only once more', async () => {
  const { sent, receive } = await openFuzzed();
  const ways = new Set<string>();
  fc.assert(
    fc.property(trunkDatagram, (datagram) => {
      sent.length = 0;
      receive(datagram, PEER, TRUNK_SOCKET);
      const bytes = sent.reduce((sum, one) => sum + one.bytes.length, 0);
      expect(bytes).toBeLessThanOrEqual(datagram.length);
      for (const { side, bytes: out, address } of sent) {
        ways.add(side);
        if (side === 'public') continue;
        expect(trunkFrameEnd(out, 0, out.length)).toBe(out.length);
        expect(out[0]! & TRUNK_PASSED).toBe(TRUNK_PASSED);
        const down = (out[0]! & TRUNK_DOWN) !== 0;
        ways.add(down ? 'down' : 'up');
        expect(address.subarray(-4)[0]).toBe(10);
      }
    }),
    { numRuns: 3000 },
  );
  expect(ways).toEqual(new Set(['public', 'trunk', 'down', 'up']));
});

test('whatever a stranger sends to the trunk, nothing comes of it', async () => {
  const { relay, sent, receive } = await openFuzzed();
  let count = 0;
  fc.assert(
    fc.property(trunkDatagram, (datagram) => {
      count += datagram.length <= MAX_TRUNK_DATAGRAM ? 1 : 0;
      receive(datagram, OUTSIDER, TRUNK_SOCKET);
      expect(sent).toEqual([]);
    }),
    { numRuns: 500 },
  );
  expect(relay.counters().drops['foreign-peer']).toBe(count);
});
