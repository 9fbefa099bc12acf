import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ADDRESS_LENGTH, formatAddress, isMappedIPv4, parseAddress } from './address.ts';

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');

describe('addresses', () => {
  test('IPv4 is mapped into IPv6', () => {
    expect(hex(parseAddress('192.0.2.1'))).toBe('00000000000000000000ffffc0000201');
    expect(parseAddress('::ffff:192.0.2.1')).toEqual(parseAddress('192.0.2.1'));
    expect(isMappedIPv4(parseAddress('192.0.2.1'))).toBe(true);
    expect(isMappedIPv4(parseAddress('64:ff9b::192.0.2.1'))).toBe(false);
    expect(isMappedIPv4(parseAddress('::ff:c000:201'))).toBe(false);
  });

  test.each([
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['2001:DB8:0:0:0:0:0:1', '2001:db8::1'],
    ['::', '::'],
    ['fe80::1%eth0', 'fe80::1'],
    ['fe80::1%br-0', 'fe80::1'],
    ['fe80::1%eth0.100', 'fe80::1'],
  ])('%s is written as %s', (text, shortest) => {
    expect(formatAddress(parseAddress(text))).toBe(shortest);
  });

  test.each([
    '',
    'localhost',
    '1',
    '127.1',
    '010.0.0.1',
    '0x7f.0.0.1',
    '1.2.3.256',
    '1.2.3.4/8',
    '1.2.3.4%eth0',
    '%eth0',
    ':::',
  ])('%j is no address', (text) => {
    expect(() => parseAddress(text)).toThrow(`${JSON.stringify(text)} is not an IPv4 or IPv6`);
  });

  test('16 bytes at any offset come back from their text', () => {
    const mapped = fc
      .uint8Array({ minLength: 4, maxLength: 4 })
      .map((v4) => Uint8Array.of(...new Uint8Array(10), 0xff, 0xff, ...v4));
    const any = fc.uint8Array({ minLength: ADDRESS_LENGTH, maxLength: ADDRESS_LENGTH });
    fc.assert(
      fc.property(fc.oneof(any, mapped), fc.nat(40), (address, at) => {
        const bytes = new Uint8Array(at + ADDRESS_LENGTH + 3).fill(0xee);
        bytes.set(address, at);
        expect(parseAddress(formatAddress(bytes, at))).toEqual(address);
      }),
    );
  });
});
