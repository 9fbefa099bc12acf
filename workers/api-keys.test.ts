import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { hashApiKey, isKeyOf, tenantOfKey } from './api-keys.ts';

const makeKey = () => `sk_acme-2_${randomBytes(32).toString('base64url')}`;

describe('an API key', () => {
  it('says whose it is', () => {
    for (let i = 0; i < 100; i++) expect(tenantOfKey(makeKey())).toBe('acme-2');
  });

  it.each(['', 'sk_', 'sk_acme_', `sk__${'a'.repeat(43)}`, `ek_acme_${'a'.repeat(43)}`])(
    'is not %j',
    (text) => {
      expect(tenantOfKey(text)).toBeUndefined();
    },
  );

  it.each([
    ['too short', `sk_acme_${'a'.repeat(42)}`],
    ['too long', `sk_acme_${'a'.repeat(44)}`],
    ['of a name that is too long', `sk_${'a'.repeat(33)}_${'a'.repeat(43)}`],
    ['with a line after it', `sk_acme_${'a'.repeat(43)}\n`],
  ])('is not %s', (_, text) => {
    expect(tenantOfKey(text)).toBeUndefined();
  });

  it('is known by its hash alone, wherever that stands among others', () => {
    const keys = [makeKey(), makeKey(), makeKey()];
    const hashes = keys.map(hashApiKey);
    for (const key of keys) expect(isKeyOf(hashes, key)).toBe(true);
    expect(isKeyOf(hashes, makeKey())).toBe(false);
    expect(isKeyOf(hashes, hashes[0]!)).toBe(false);
    expect(isKeyOf([], keys[0]!)).toBe(false);
  });

  it('is hashed as sha256sum does it', () => {
    expect(hashApiKey('abc')).toBe(
      'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
    );
  });
});
