import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { noDtlsDrops, wantedRecords as filter, type DtlsRole } from './dtls-records.ts';

const wantedRecords = (datagram: Buffer, established: boolean, role: DtlsRole = 'server') =>
  filter(datagram, role, established, noDtlsDrops());

/** A fragment of a handshake message, a ClientHello unless said otherwise. */
function message({ type = 1, length = 8, offset = 0, size = 8 } = {}): Buffer {
  const header = Buffer.alloc(12);
  header[0] = type;
  header.writeUIntBE(length, 1, 3);
  header.writeUIntBE(offset, 6, 3);
  header.writeUIntBE(size, 9, 3);
  return Buffer.concat([header, Buffer.alloc(Math.min(size, 64))]);
}

function record(
  type: number,
  epoch = 0,
  version = 0xfefd,
  body = type === 20 ? Buffer.of(1) : message(),
  sequence = 0,
): Buffer {
  const header = Buffer.alloc(13);
  header.writeUIntBE(sequence, 5, 6);
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
  ['of an epoch that there is not', record(23, 2), false, false],
])('%s', (_, it, before, after) => {
  expect(wantedRecords(it, false)).toHaveLength(before ? 1 : 0);
  expect(wantedRecords(it, true)).toHaveLength(after ? 1 : 0);
});

test.each([
  ['a fragment', message({ length: 100, offset: 40 }), true],
  ['two messages', Buffer.concat([message(), message({ type: 11 })]), true],
  ['nothing', Buffer.alloc(0), false],
  ['one byte', Buffer.alloc(1), false],
  ['a fragment past the end of its message', message({ length: 10, offset: 8 }), false],
  ['a message cut off', message({ length: 900, size: 900 }), false],
  ['bytes behind the message', Buffer.concat([message(), Buffer.alloc(5)]), false],
  ['a message too long for any certificate', message({ length: 0xffffff }), false],
  ['HelloRequest', message({ type: 0, length: 0, size: 0 }), false],
  ['a Finished in plaintext', message({ type: 20 }), false],
])('a plaintext handshake record with %s', (_, body, wanted) => {
  expect(wantedRecords(record(22, 0, 0xfefd, body), false)).toHaveLength(wanted ? 1 : 0);
});

test('a plaintext change of ciphers is one byte', () => {
  expect(wantedRecords(record(20, 0, 0xfefd, Buffer.alloc(5)), false)).toEqual([]);
  expect(wantedRecords(record(20, 0, 0xfefd, Buffer.of(2)), false)).toEqual([]);
});

test('a plaintext record must not move the replay window past the real ones', () => {
  expect(wantedRecords(record(22, 0, 0xfefd, message(), 63), false)).toHaveLength(1);
  expect(wantedRecords(record(22, 0, 0xfefd, message(), 64), false)).toEqual([]);
  expect(wantedRecords(record(22, 1, 0xfefd, message(), 2 ** 40), true)).toHaveLength(1);
});

test('the good records of a datagram are kept, the whole when all are good', () => {
  const [good, bad] = [record(22), record(21)];
  const whole = Buffer.concat([good, good]);
  expect(wantedRecords(whole, false)).toEqual([whole]);
  const data = record(23, 1);
  expect(wantedRecords(Buffer.concat([data, data]), true)).toEqual([data, data]);
  expect(wantedRecords(Buffer.concat([bad, good, bad, good]), false)).toEqual([good, good]);
  expect(wantedRecords(Buffer.concat([good, Buffer.from([22, 254])]), false)).toEqual([good]);
});

test.each<[string, number, DtlsRole[]]>([
  ['ClientHello', 1, ['server']],
  ['ServerHello', 2, ['client']],
  ['HelloVerifyRequest', 3, ['client']],
  ['Certificate', 11, ['client', 'server']],
  ['ServerKeyExchange', 12, ['client']],
  ['CertificateVerify', 15, ['server']],
  ['ClientKeyExchange', 16, ['server']],
])('%s is wanted by who waits for it', (_, type, roles) => {
  const it = record(22, 0, 0xfefd, message({ type }));
  for (const role of ['client', 'server'] as const) {
    expect(wantedRecords(it, false, role)).toHaveLength(roles.includes(role) ? 1 : 0);
  }
});

test('what is dropped is counted by reason', () => {
  const drops = noDtlsDrops();
  const late = Buffer.concat([record(22), record(21), record(40), Buffer.alloc(3)]);
  filter(late, 'server', true, drops);
  filter(record(21), 'server', false, drops);
  expect(drops).toEqual({
    ...noDtlsDrops(),
    'late-plaintext': 2,
    'not-a-record': 2,
    'unwanted-plaintext': 1,
  });
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
