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
  ])('says of %s = %o that it is %s, how to set it, and not what it is', (name, value, what) => {
    const read = () => edgeKeys({ ...GOOD, [name]: value });
    expect(read).toThrow(SecretError);
    expect(read).toThrow(`${name} `);
    expect(read).toThrow(what);
    expect(read).toThrow(`wrangler secret put ${name}`);
    if (value) expect(read).not.toThrow(value);
  });

  it('tells a secret that was never set', () => {
    const unset: Partial<typeof GOOD> = {};
    expect(() => edgeKeys(unset as typeof GOOD)).toThrow('ROUTING_KEYS is missing');
  });
});
