import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { RtpLedger, isRtp } from './rtp-ledger.ts';

function rtp(source: number, sequence: number): Buffer {
  const packet = Buffer.alloc(40);
  packet.writeUInt16BE(0x806f, 0);
  packet.writeUInt16BE(sequence, 2);
  packet.writeUInt32BE(source, 8);
  return packet;
}

test('a packet is the same again by its source and number', () => {
  const ledger = new RtpLedger();
  for (const packet of [rtp(1, 1), rtp(1, 2), rtp(2, 1), rtp(1, 2)]) ledger.note(packet);
  expect(ledger).toMatchObject({ total: 4, distinct: 3 });
});

test('RTCP, checks and DTLS are no RTP, nor is what ends too early', () => {
  expect(isRtp(rtp(1, 1))).toBe(true);
  for (const start of [0x80c8, 0x0001, 0x16fe]) {
    const packet = rtp(1, 1);
    packet.writeUInt16BE(start, 0);
    expect(isRtp(packet)).toBe(false);
  }
  expect(isRtp(rtp(1, 1).subarray(0, 11))).toBe(false);
});

test('any bytes are read or refused', () => {
  const anyBytes = fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
    const packet = Buffer.from(bytes);
    const ledger = new RtpLedger();
    if (isRtp(packet)) ledger.note(packet);
    expect(ledger.total).toBe(isRtp(packet) ? 1 : 0);
  });
  fc.assert(anyBytes);
});
