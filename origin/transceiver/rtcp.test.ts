import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { RtcpPacketConverter, RtcpReceiverInfo, RtcpRrPacket } from 'werift';
import { readRtcp, writeRtcp, type ReportBlock, type SenderInfo } from './rtcp.ts';

const uint32 = fc.nat(0xffff_ffff);
const anyBlock: fc.Arbitrary<ReportBlock> = fc.record({
  ssrc: uint32,
  fractionLost: fc.nat(255),
  lost: fc.integer({ min: -(2 ** 23), max: 2 ** 23 - 1 }),
  highestSequence: uint32,
  jitter: uint32,
  lastReport: uint32,
  delay: uint32,
});
const anySender: fc.Arbitrary<SenderInfo> = fc.record({
  ntpSeconds: uint32,
  ntpFraction: uint32,
  rtpTimestamp: uint32,
  packets: uint32,
  octets: uint32,
});

test('what is written is read', () => {
  fc.assert(
    fc.property(
      uint32,
      fc.option(anySender, { nil: undefined }),
      fc.array(anyBlock, { maxLength: 8 }),
      fc.string({ maxLength: 20 }),
      fc.boolean(),
      (ssrc, sender, blocks, cname, leaves) => {
        const bytes = writeRtcp({ ssrc, sender, blocks }, cname, leaves);
        expect(bytes.length % 4).toBe(0);
        expect(readRtcp(bytes)).toEqual({
          reports: [{ ssrc, sender, blocks }],
          byes: leaves ? [ssrc] : [],
        });
      },
    ),
  );
});

test('werift reads it, and it reads werift', () => {
  const block: ReportBlock = {
    ssrc: 5,
    fractionLost: 12,
    lost: 345,
    highestSequence: 0x1_2345,
    jitter: 67,
    lastReport: 0x89ab_cdef,
    delay: 1_234,
  };
  const sender = { ntpSeconds: 1, ntpFraction: 2, rtpTimestamp: 3, packets: 4, octets: 5 };
  const [report, description] = RtcpPacketConverter.deSerialize(
    writeRtcp({ ssrc: 9, sender, blocks: [block] }, 'name'),
  );
  expect(report).toMatchObject({
    type: 200,
    ssrc: 9,
    senderInfo: { ntpTimestamp: 2n ** 32n + 2n, rtpTimestamp: 3, packetCount: 4, octetCount: 5 },
    reports: [{ ssrc: 5, fractionLost: 12, packetsLost: 345, highestSequence: 0x1_2345 }],
  });
  expect(description).toMatchObject({
    chunks: [{ source: 9, items: [{ type: 1, text: 'name' }] }],
  });

  const info = new RtcpReceiverInfo({
    ssrc: 5,
    fractionLost: 12,
    packetsLost: 345,
    highestSequence: 0x1_2345,
    jitter: 67,
    lsr: 0x89ab_cdef,
    dlsr: 1_234,
  });
  const theirs = new RtcpRrPacket({ ssrc: 9, reports: [info] }).serialize();
  expect(readRtcp(theirs)).toEqual({
    reports: [{ ssrc: 9, sender: undefined, blocks: [block] }],
    byes: [],
  });
});

const words = (...values: number[]) => {
  const bytes = Buffer.alloc(4 * values.length);
  for (const [i, value] of values.entries()) bytes.writeUInt32BE(value, 4 * i);
  return bytes;
};

test.each([
  ['nothing', Buffer.alloc(0)],
  ['half a header', Buffer.from([0x80, 201])],
  ['another version', words(0x40c9_0001, 1)],
  ['a length behind its end', words(0x80c9_0002, 1)],
  ['a report without its reporter', words(0x80c9_0000)],
  ['a block that is not there', words(0x81c9_0001, 1)],
  ['a sender report without its sender', words(0x80c8_0001, 1)],
  ['more goodbyes than sources', words(0x82cb_0001, 1)],
  ['padding longer than it', words(0xa0c9_0001, 8)],
  ['padding of no bytes', words(0xa0c9_0001, 0)],
  ['padding before its end', words(0xa0c9_0002, 1, 4, 0x80c9_0001, 1)],
  ['bytes behind the last packet', Buffer.concat([words(0x80c9_0001, 1), Buffer.alloc(3)])],
])('%s is no RTCP', (_, bytes) => {
  expect(readRtcp(bytes)).toBeUndefined();
});

test('padding, other kinds of packets and the extensions of profiles are passed over', () => {
  const report = { ssrc: 1, sender: undefined, blocks: [] };
  expect(readRtcp(words(0xa0c9_0002, 1, 4))).toEqual({ reports: [report], byes: [] });
  expect(readRtcp(words(0x80c9_0003, 1, 7, 7))).toEqual({ reports: [report], byes: [] });
  expect(readRtcp(words(0x81ce_0002, 1, 2, 0x80c9_0001, 1))).toEqual({
    reports: [report],
    byes: [],
  });
});

test('any bytes are read or refused', () => {
  const written = writeRtcp({ ssrc: 1, sender: undefined, blocks: [] }, 'x', true);
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), fc.nat(written.length - 1), (bytes, at) => {
      readRtcp(Buffer.from(bytes));
      const bent = Buffer.from(written);
      bent.set(bytes.subarray(0, bent.length - at), at);
      const read = readRtcp(bent);
      expect(read?.reports.length ?? 0).toBeLessThanOrEqual(bent.length / 4);
    }),
    { numRuns: 3_000 },
  );
});
