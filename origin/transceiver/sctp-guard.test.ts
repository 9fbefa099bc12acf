import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { MAX_TSN_AHEAD, isSoundSctp } from './sctp-guard.ts';
import { dataBody, sctpPacket, words, type Chunk } from './testing/sctp-packets.ts';

const AT = { lastReceivedTsn: 0xffff_fff0, localTsn: 5 };
const isSound = (chunk: Chunk, at = AT) => isSoundSctp(sctpPacket(1, chunk), at);
const data = (tsn: number) => ({ type: 0, flags: 3, body: dataBody(tsn, 0, 51, Buffer.from('x')) });

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
