import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { wantedRecords } from './dtls-records.ts';

function record(type: number, epoch = 0, version = 0xfefd, body = Buffer.alloc(20)): Buffer {
  const header = Buffer.alloc(13);
  header[0] = type;
  header.writeUInt16BE(version, 1);
  header.writeUInt16BE(epoch, 3);
  header.writeUInt16BE(body.length, 11);
  return Buffer.concat([header, body]);
}

test.each([
  ['handshake', record(22), true, false],
  ['change cipher spec', record(20), true, false],
  ['alert', record(21), false, false],
  ['application data', record(23), false, false],
  ['unknown type', record(40), false, false],
  ['another version', record(22, 0, 0x0303), false, false],
  ['DTLS 1.0, as first flights have', record(22, 0, 0xfeff), true, false],
  ['encrypted handshake', record(22, 1), true, true],
  ['encrypted alert', record(21, 1), true, true],
  ['encrypted data', record(23, 1), true, true],
  ['encrypted unknown', record(24, 1), false, false],
])('%s', (_, it, before, after) => {
  expect(wantedRecords(it, false)).toHaveLength(before ? 1 : 0);
  expect(wantedRecords(it, true)).toHaveLength(after ? 1 : 0);
});

test('the good records of a datagram are kept, the whole when all are good', () => {
  const [good, bad] = [record(22), record(21)];
  const whole = Buffer.concat([good, good]);
  expect(wantedRecords(whole, false)).toEqual([whole]);
  expect(wantedRecords(Buffer.concat([bad, good, bad, good]), false)).toEqual([good, good]);
  expect(wantedRecords(Buffer.concat([good, Buffer.from([22, 254])]), false)).toEqual([good]);
});

test('any bytes give views of them', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 80 }), fc.boolean(), (bytes, established) => {
      const datagram = Buffer.from(bytes);
      for (const it of wantedRecords(datagram, established))
        expect(it.buffer).toBe(datagram.buffer);
    }),
    { numRuns: 2_000 },
  );
});
