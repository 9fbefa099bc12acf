import { createHmac } from 'node:crypto';
import { crc32 } from 'node:zlib';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Message, classes, methods, parseMessage } from 'werift';
import { ownCheck, proven, refusal, success } from './ice-messages.ts';
import { openCheck, sealed } from './testing/checks.ts';

const PASSWORD = 'p'.repeat(24);
const KEY = Buffer.from(PASSWORD);

/** Announces GOOG_PING, in a response (libwebrtc's GOOG_MISC_INFO). */
const GOOG_MISC_INFO = 0xc059;

/** Appends an attribute over all before it, as the length in the header counts it already. */
function append(message: Buffer, type: number, size: number, of: (covered: Buffer) => Buffer) {
  const covered = Buffer.from(message);
  covered.writeUInt16BE(message.length - 20 + 4 + size, 2);
  const header = Buffer.alloc(4);
  header.writeUInt16BE(type, 0);
  header.writeUInt16BE(size, 2);
  return Buffer.concat([covered, header, of(covered)]);
}

const hmac = (covered: Buffer) => createHmac('sha1', KEY).update(covered).digest();

/** Seals bytes that have attributes which werift would write behind the seal. */
function sealedBytes(open: Buffer): Buffer {
  return append(append(open, 0x0008, 20, hmac), 0x8028, 4, (covered) => {
    const value = Buffer.alloc(4);
    value.writeUInt32BE((crc32(covered) ^ 0x5354554e) >>> 0);
    return value;
  });
}

const typesOf = (packet: Buffer) => {
  const types: number[] = [];
  for (let at = 20; at < packet.length; at += 4 + ((packet.readUInt16BE(at + 2) + 3) & ~3)) {
    types.push(packet.readUInt16BE(at));
  }
  return types;
};

test('a sealed check is proven, and says what it said', () => {
  const check = proven(sealed(openCheck('abcd'), PASSWORD), KEY);
  expect(check?.attributesKeys).toContain('USE-CANDIDATE');
});

const open = () => openCheck('abcd');

describe('not proven is', () => {
  test.each<[string, Buffer]>([
    ['what has no seal', open().bytes],
    ['what has a FINGERPRINT alone', open().addFingerprint().bytes],
    [
      'nothing but a FINGERPRINT',
      new Message(methods.BINDING, classes.REQUEST).addFingerprint().bytes,
    ],
    ['what has MESSAGE-INTEGRITY alone', open().addMessageIntegrity(KEY).bytes],
    ['what another key sealed', sealed(open(), 'q'.repeat(24))],
    [
      'what says more behind its seal',
      open().addMessageIntegrity(KEY).setAttribute('SOFTWARE', 'x').addFingerprint().bytes,
    ],
    ['what is cut', sealed(open(), PASSWORD).subarray(0, -4)],
  ])('%s', (_, packet) => {
    expect(proven(packet, KEY)).toBeUndefined();
  });

  test('any check of which one bit is another', () => {
    const packet = sealed(openCheck('abcd'), PASSWORD);
    for (let bit = 0; bit < packet.length * 8; bit++) {
      const changed = Buffer.from(packet);
      changed[bit >> 3]! ^= 1 << (bit & 7);
      expect(proven(changed, KEY)).toBeUndefined();
    }
  });

  test('any bytes, and none throws', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 400 }), (bytes) => {
        expect(proven(Buffer.from(bytes), KEY)).toBeUndefined();
      }),
    );
  });
});

test('an attribute that one must know and we do not is answered with 420 and its type', () => {
  const check = openCheck('abcd').appendRawAttribute(0x7abc, Buffer.from('what'));
  const answer = refusal(proven(sealedBytes(check.bytes), KEY)!, KEY)!;
  const error = proven(answer, KEY)!;
  expect(error.messageClass).toBe(classes.ERROR);
  expect(error.transactionId).toEqual(check.transactionId);
  expect(error.getAttributeValue('ERROR-CODE')[0]).toBe(420);
  expect(error.getAttributeValue('UNKNOWN-ATTRIBUTES')).toEqual([0x7abc]);
});

test('an attribute that one may ignore is', () => {
  const check = openCheck('abcd').appendRawAttribute(0xc0de, Buffer.from('what'));
  expect(refusal(proven(sealedBytes(check.bytes), KEY)!, KEY)).toBeUndefined();
});

test.each([
  { address: '192.0.2.1', port: 1 },
  { address: '2001:db8::1:2', port: 65_535 },
])('success tells a client that it came from $address', (client) => {
  const packet = success(openCheck('abcd'), KEY, client);
  const answer = proven(packet, KEY)!;
  expect(answer.messageClass).toBe(classes.RESPONSE);
  expect(answer.getAttributeValue('XOR-MAPPED-ADDRESS')).toEqual([client.address, client.port]);
  expect(typesOf(packet)).not.toContain(GOOG_MISC_INFO);
});

test('our own check is as a full agent wants it', () => {
  const own = { ufrag: 'ours', password: 'o'.repeat(24) };
  const id = Buffer.alloc(12, 7);
  const packet = ownCheck(id, { own, client: { ufrag: 'theirs', password: PASSWORD }, key: KEY });
  const check = parseMessage(packet, KEY)!;
  expect(check.transactionId).toEqual(id);
  expect(check.getAttributeValue('USERNAME')).toBe('theirs:ours');
  expect(check.attributesKeys).toEqual([
    'USERNAME',
    'PRIORITY',
    'ICE-CONTROLLED',
    'MESSAGE-INTEGRITY',
    'FINGERPRINT',
  ]);
});
