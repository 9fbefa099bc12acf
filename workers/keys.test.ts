import { describe, expect, it } from 'vitest';
import { edgeKeys, SecretError } from './keys.ts';

const GOOD = {
  ROUTING_KEYS: `A:${Buffer.alloc(16, 1).toString('base64')}`,
  SIGNING_KEY: Buffer.alloc(32, 2).toString('base64'),
};

describe('edgeKeys', () => {
  it('reads keys once, until a secret changes', () => {
    const keys = edgeKeys(GOOD);
    expect(edgeKeys({ ...GOOD })).toBe(keys);
    const other = { ...GOOD, SIGNING_KEY: Buffer.alloc(32, 3).toString('base64') };
    expect(edgeKeys(other)).not.toBe(keys);
  });

  it.each([
    ['ROUTING_KEYS', '', 'missing'],
    ['ROUTING_KEYS', 'secret-text', 'cannot be read'],
    ['SIGNING_KEY', '', 'missing'],
    ['SIGNING_KEY', 'c2hvcnQtc2VjcmV0', 'cannot be read'],
  ])('says of %s = %o that it is %s, and how to set it', (name, value, what) => {
    const read = () => edgeKeys({ ...GOOD, [name]: value });
    expect(read).toThrow(SecretError);
    expect(read).toThrow(`${name} `);
    expect(read).toThrow(what);
    expect(read).toThrow(`wrangler secret put ${name}`);
  });

  it.each([{ ROUTING_KEYS: 'secret-text' }, { SIGNING_KEY: 'c2hvcnQtc2VjcmV0' }])(
    'does not show the secrets of %o',
    (bad) => {
      expect(() => edgeKeys({ ...GOOD, ...bad })).not.toThrow(/secret-text|c2hvcnQtc2VjcmV0/);
    },
  );
});
