import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { formatAddress, parseAddress } from '../../protocol/address.ts';
import { AddressCache } from './address-cache.ts';

test('text and bytes turn into each other, remembered or not', () => {
  const cache = new AddressCache(4);
  const address = fc.uint8Array({ minLength: 16, maxLength: 16 });
  const mapped = fc.ipV4().map(parseAddress);
  fc.assert(
    fc.property(fc.array(fc.oneof(address, mapped)), (addresses) => {
      for (const bytes of [...addresses, ...addresses]) {
        const at = Buffer.concat([Buffer.alloc(3), bytes]);
        expect(cache.textOf(at, 3)).toBe(formatAddress(bytes));
        expect(cache.bytesOf(formatAddress(bytes))).toEqual(bytes);
      }
    }),
  );
});

test('an address that was pushed out is read anew, the others are the same bytes', () => {
  const cache = new AddressCache(2);
  const [first, second] = ['192.0.2.1', '192.0.2.2'].map((text) => cache.bytesOf(text));
  cache.bytesOf('192.0.2.3');
  expect(cache.bytesOf('192.0.2.2')).toBe(second);
  expect(cache.bytesOf('192.0.2.1')).not.toBe(first);
  expect(cache.bytesOf('192.0.2.1')).toEqual(first);
});

test('an IPv6 address with a zone is its address', () => {
  expect(new AddressCache().bytesOf('fe80::1%lo')).toEqual(parseAddress('fe80::1'));
});
