import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseRoutingKeys } from './routing-keys.ts';

const BASE64 = 'AAECAwQFBgcICQoLDA0ODw==';
const BYTES = Uint8Array.from({ length: 16 }, (_, i) => i);

describe('routing keys', () => {
  test('one key, with and without padding', () => {
    expect(parseRoutingKeys(`A:${BASE64}`)).toEqual([{ id: 'A', key: BYTES }]);
    expect(parseRoutingKeys(`A:${BASE64.slice(0, 22)}`)).toEqual([{ id: 'A', key: BYTES }]);
  });

  test('two keys keep their order, spaces and the newline of a secret file do not matter', () => {
    const text = ` /:${BASE64} , +:${BASE64}\n`;
    expect(parseRoutingKeys(text).map(({ id }) => id)).toEqual(['/', '+']);
  });

  test.each([
    ['nothing', ''],
    ['no id', BASE64],
    ['an id that is no ice-char', `-:${BASE64}`],
    ['an id of two characters', `AB:${BASE64}`],
    ['a short key', 'A:AAECAwQFBgcICQoLDA0O'],
    ['a long key', `A:${Buffer.alloc(32).toString('base64')}`],
    ['base64url', 'A:_______________________w=='],
    ['hexadecimal', 'A:000102030405060708090a0b0c0d0e0f'],
    ['a comma at the end', `A:${BASE64},`],
  ])('%s is refused with advice', (_, text) => {
    expect(() => parseRoutingKeys(text)).toThrow(/one character .* make one with: echo/);
  });

  test('two keys need two ids', () => {
    expect(() => parseRoutingKeys(`A:${BASE64},A:${BASE64}`)).toThrow(
      'Both routing keys have the id A',
    );
  });

  test('a third key is refused', () => {
    const text = ['A', 'B', 'C'].map((id) => `${id}:${BASE64}`).join(',');
    expect(() => parseRoutingKeys(text)).toThrow('at most two');
  });

  test('the error does not show the key', () => {
    expect(messageFor(`AB:${BASE64}`)).not.toContain(BASE64);
    expect(messageFor(`A:${BASE64},A:${BASE64}`)).not.toContain(BASE64);
  });

  test('any text gives keys of 16 bytes or advice', () => {
    const shaped = fc
      .tuple(fc.string({ unit: 'binary', maxLength: 2 }), fc.base64String({ maxLength: 26 }))
      .map(([id, key]) => `${id}:${key}`);
    fc.assert(
      fc.property(fc.oneof(shaped, fc.string({ unit: 'binary' })), (text) => {
        expect(messageFor(text)).toMatch(/^(fine|.*routing key.*)$/);
      }),
    );
  });
});

/** What the parser says; `fine` when it gives keys of the right length. */
function messageFor(text: string): string {
  try {
    const keys = parseRoutingKeys(text);
    return keys.every(({ key }) => key.length === 16) ? 'fine' : 'keys of the wrong length';
  } catch (error) {
    return String(error);
  }
}
