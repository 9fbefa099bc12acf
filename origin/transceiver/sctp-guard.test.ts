import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { MAX_PACKET, MAX_PARAMETERS, MAX_TSN_AHEAD, isSoundSctp } from './sctp-guard.ts';
import { dataBody, sctpPacket, words, type Chunk } from './testing/sctp-packets.ts';

/** TSNs up to 4 were sent, two more wait. */
const AT = { lastReceivedTsn: 0xffff_fff0, localTsn: 7, outboundQueue: { length: 2 } };
const isSound = (chunk: Chunk, at = AT) => isSoundSctp(sctpPacket(1, chunk), at);
const data = (tsn: number) => ({ type: 0, flags: 3, body: dataBody(tsn, 0, 51, Buffer.from('x')) });

const sack = (...gaps: number[]) => ({
  type: 3,
  body: words(0, 0x1000, gaps.length << 16, ...gaps),
});

const heartbeat = (count: number) => ({
  type: 4,
  body: words(...Array.from({ length: count }, () => 0x0001_0004)),
});

const reconfig = (count: number) => ({
  type: 130,
  body: words(...Array.from({ length: count }, () => [0x0010_000c, 1, 1]).flat()),
});

const forward = (streams: number) => ({
  type: 192,
  body: words(0xffff_fff1, ...Array.from({ length: streams }, () => 0)),
});

const filled = (length: number) => ({
  type: 0,
  flags: 3,
  body: dataBody(0xffff_fff1, 0, 51, Buffer.alloc(length - 28)),
});

test('what an association needs is let through', () => {
  expect(isSound({ type: 1, body: Buffer.concat([words(1, 2, 3, 4), words(0xc000_0004)]) })).toBe(
    true,
  );
  expect(isSound({ type: 10, body: Buffer.alloc(24) })).toBe(true);
  expect(isSound({ type: 11, body: Buffer.alloc(0) })).toBe(true);
  expect(isSound({ type: 3, body: words(4, 0x1000, 0) })).toBe(true);
  expect(isSound({ type: 3, body: words(0xffff_ffff, 0x1000, 0x0001_0000, 0x0002_0003) })).toBe(
    true,
  );
  expect(
    isSound({ type: 130, body: Buffer.from('000d0012000000010000000200000003000a0000', 'hex') }),
  ).toBe(true);
});

test('TSNs are near or not, over the end of their circle', () => {
  expect(isSound(data(0xffff_fff1))).toBe(true);
  expect(isSound(data(0xffff_ff00))).toBe(true);
  expect(isSound(data(0xffff_fff0 + MAX_TSN_AHEAD))).toBe(true);
  expect(isSound(data(0xffff_fff0 + MAX_TSN_AHEAD + 1))).toBe(false);
  expect(isSoundSctp(sctpPacket(1, data(1)), { ...AT, lastReceivedTsn: undefined })).toBe(false);
});

test('a SACK acknowledges only what was sent', () => {
  expect(isSound({ type: 3, body: words(5, 0x1000, 0) })).toBe(false);
});

test('the gaps of a SACK name no more than what is in flight', () => {
  expect(isSound(sack(0x0002_0002, 0x0004_0004))).toBe(true);
  expect(isSound(sack(0x0002_0002, 0x0004_0005))).toBe(false);
  expect(isSound(sack(0x0002_0002, 0x0002_0003))).toBe(false);
});

test.each<[string, Chunk]>([
  ['SACK', { type: 3, body: words(4, 0x1000, 0) }],
  ['HEARTBEAT', { type: 4, body: Buffer.alloc(0) }],
  ['HEARTBEAT ACK', { type: 5, body: Buffer.alloc(0) }],
  ['SHUTDOWN', { type: 7, body: words(4) }],
  ['SHUTDOWN ACK', { type: 8, body: Buffer.alloc(0) }],
  ['COOKIE ECHO', { type: 10, body: Buffer.alloc(24) }],
  ['RE-CONFIG', { type: 130, body: words(0x0010_000c, 1, 1) }],
  ['FORWARD TSN', { type: 192, body: words(0xffff_fff1) }],
])('%s comes once in a packet, DATA often', (_, chunk) => {
  const once = [chunk, data(0xffff_fff1), data(0xffff_fff2)];
  expect(isSoundSctp(sctpPacket(1, ...once), AT)).toBe(true);
  expect(isSoundSctp(sctpPacket(1, ...once, chunk), AT)).toBe(false);
});

test('chunks have few parameters', () => {
  expect(isSound(heartbeat(MAX_PARAMETERS))).toBe(true);
  expect(isSound(heartbeat(MAX_PARAMETERS + 1))).toBe(false);
  expect(isSound(reconfig(2))).toBe(true);
  expect(isSound(reconfig(3))).toBe(false);
  expect(isSound(forward(128))).toBe(true);
  expect(isSound(forward(129))).toBe(false);
});

test('a packet is no larger than its path takes', () => {
  expect(isSound(filled(MAX_PACKET))).toBe(true);
  expect(isSound(filled(MAX_PACKET + 4))).toBe(false);
});

test('any bytes get a verdict', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 120 }), fc.nat(255), (bytes, type) => {
      const packet = Buffer.from(bytes);
      if (packet.length > 12) packet[12] = type;
      expect(typeof isSoundSctp(packet, AT)).toBe('boolean');
    }),
    { numRuns: 5_000 },
  );
});
