import * as fc from 'fast-check';
import ipaddr from 'ipaddr.js';
import { expect, test } from 'vitest';
import { formatAddress, isMappedIPv4, parseAddress } from '../protocol/address.ts';
import { Networks } from './networks.ts';

test.each([
  ['10.0.0.0/8', '10.255.0.1', true],
  ['10.0.0.0/8', '11.0.0.1', false],
  ['10.1.2.3/32', '10.1.2.3', true],
  ['10.1.2.3/32', '10.1.2.2', false],
  ['0.0.0.0/0', '203.0.113.9', true],
  ['0.0.0.0/0', '2001:db8::1', false],
  ['::/0', '2001:db8::1', true],
  ['fd00::/8', 'fdff::1', true],
  ['fd00::/8', 'fe00::1', false],
  ['2001:db8::/47', '2001:db8:1::', true],
  ['2001:db8::/47', '2001:db8:2::', false],
])('%s has %s: %s', (cidr, address, expected) => {
  expect(new Networks([cidr]).has(parseAddress(address))).toBe(expected);
});

test('no networks have nothing, several have what any of them has', () => {
  expect(new Networks([]).has(parseAddress('10.0.0.1'))).toBe(false);
  expect(new Networks(['10.0.0.0/8', 'fd00::/8']).has(parseAddress('fd00::1'))).toBe(true);
});

test('the address may stand anywhere in its bytes', () => {
  const bytes = Buffer.concat([Buffer.alloc(5), parseAddress('10.0.0.1')]);
  expect(new Networks(['10.0.0.0/8']).has(bytes, 5)).toBe(true);
});

test.each(['', '10.0.0.0', '10.0.0.0/33', '::/129', 'region/8'])('"%s" is no network', (cidr) => {
  expect(() => new Networks([cidr])).toThrow(`"${cidr}" is not a network`);
});

test('it agrees with ipaddr.js on any IPv4 network', () => {
  const address = fc.ipV4();
  fc.assert(
    fc.property(address, fc.integer({ min: 0, max: 32 }), address, (network, bits, other) => {
      const expected = ipaddr.IPv4.parse(other).match(ipaddr.IPv4.parse(network), bits);
      expect(new Networks([`${network}/${bits}`]).has(parseAddress(other))).toBe(expected);
    }),
  );
});

test('it agrees with ipaddr.js on any IPv6 network', () => {
  const address = fc.uint8Array({ minLength: 16, maxLength: 16 }).filter((b) => !isMappedIPv4(b));
  fc.assert(
    fc.property(address, fc.integer({ min: 0, max: 128 }), fc.nat(127), (bytes, bits, flipped) => {
      const other = Uint8Array.from(bytes);
      other[flipped >> 3]! ^= 0x80 >> (flipped & 7);
      const cidr = `${formatAddress(bytes)}/${bits}`;
      const expected = ipaddr.IPv6.parse(formatAddress(other)).match(ipaddr.IPv6.parseCIDR(cidr));
      expect(new Networks([cidr]).has(other)).toBe(expected);
    }),
  );
});
