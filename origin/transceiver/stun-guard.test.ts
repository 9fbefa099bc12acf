import * as fc from 'fast-check';
import { Message, classes, methods } from 'werift';
import { describe, expect, test } from 'vitest';
import { MAX_ATTRIBUTES, isSoundStun } from './stun-guard.ts';

/** A Binding request with these attributes, as they are. */
function request(...attributes: readonly (readonly [type: number, value: Buffer])[]): Buffer {
  const header = Buffer.from(new Message(methods.BINDING, classes.REQUEST).bytes.subarray(0, 20));
  const body = attributes.map(([type, value]) => {
    const attribute = Buffer.alloc(4 + value.length + (-value.length & 3));
    attribute.writeUInt16BE(type, 0);
    attribute.writeUInt16BE(value.length, 2);
    value.copy(attribute, 4);
    return attribute;
  });
  const packet = Buffer.concat([header, ...body]);
  packet.writeUInt16BE(packet.length - 20, 2);
  return packet;
}

const opaque = (type: number, length = 0) => [type, Buffer.alloc(length)] as const;

describe('a STUN message is', () => {
  test('sound as browsers send it, with a large attribute nobody knows', () => {
    const check = new Message(methods.BINDING, classes.REQUEST)
      .setAttribute('USERNAME', 'server:client')
      .setAttribute('PRIORITY', 1)
      .setAttribute('ICE-CONTROLLING', 1n)
      .addMessageIntegrity(Buffer.from('password'))
      .addFingerprint();
    expect(isSoundStun(check.bytes)).toBe(true);
    expect(isSoundStun(request(opaque(0x0006, 9), opaque(0xc070, 1000)))).toBe(true);
  });

  test('not sound with an attribute twice', () => {
    expect(isSoundStun(request(opaque(0x8028, 4), opaque(0x8028, 4)))).toBe(false);
  });

  test('not sound with too many attributes', () => {
    const many = Array.from({ length: MAX_ATTRIBUTES }, (_, i) => opaque(0xc000 + i));
    expect(isSoundStun(request(...many))).toBe(true);
    expect(isSoundStun(request(...many, opaque(0xd000)))).toBe(false);
  });

  test.each([0x0001, 0x0012, 0x0016, 0x0020, 0x8023, 0x802b, 0x802c])(
    'not sound with an address attribute %i of another size than an address has',
    (type) => {
      expect(isSoundStun(request(opaque(type, 8)))).toBe(true);
      expect(isSoundStun(request(opaque(type, 20)))).toBe(true);
      expect(isSoundStun(request(opaque(type, 1900)))).toBe(false);
      expect(isSoundStun(request(opaque(type)))).toBe(false);
    },
  );

  test('judged whatever its bytes are', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        expect(typeof isSoundStun(Buffer.from(bytes))).toBe('boolean');
      }),
    );
  });
});
