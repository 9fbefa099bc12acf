import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { CallIdCodec, MAX_TENANT_BYTES, newCall, type CallRef } from './call-id.ts';
import type { RoutingKey } from './routing-keys.ts';
import { UfragCodec } from './ufrag.ts';
import vectors from './vectors/call-id.json' with { type: 'json' };

const OLD: RoutingKey = { id: '+', key: new Uint8Array(16).fill(1) };
const NEW: RoutingKey = { id: 'B', key: new Uint8Array(16).fill(2) };
const REF: CallRef = { cluster: 2, transceiver: 7, call: 'c0ffee00'.repeat(4), tenant: 'acme' };

const bytesOf = (hex: string) => new Uint8Array(Buffer.from(hex, 'hex'));

describe('known answers', () => {
  test.each(vectors.sealed)('$token', async (vector) => {
    const { keyId, key, iv, token, cluster, transceiver, call, tenant } = vector;
    const codec = new CallIdCodec([{ id: keyId, key: bytesOf(key) }]);
    const ref = { cluster, transceiver, call, tenant };
    expect(await codec.seal(ref, bytesOf(iv))).toBe(token);
    expect(codec.open(token)).toEqual(ref);
  });
});

describe('a call id', async () => {
  const codec = new CallIdCodec([NEW, OLD]);
  const good = await codec.seal(REF);

  test('stands in a URL path as it is, another text each time', async () => {
    const tokens = await Promise.all(Array.from({ length: 50 }, () => codec.seal(REF)));
    for (const token of tokens) expect(encodeURIComponent(token)).toBe(token);
    expect(new Set(tokens).size).toBe(50);
  });

  test('opens with both live keys', async () => {
    expect(codec.open(await new CallIdCodec([OLD]).seal(REF))).toEqual(REF);
    expect(codec.open(good)).toEqual(REF);
    expect(good[0]).toBe('B');
  });

  test('is not opened by another key, be its id the same', () => {
    expect(new CallIdCodec([OLD]).open(good)).toBeUndefined();
    expect(new CallIdCodec([{ id: 'B', key: OLD.key }]).open(good)).toBeUndefined();
  });

  test('is refused with any one bit of its bytes turned', () => {
    const sealed = Buffer.from(good.slice(1), 'base64url');
    for (let bit = 0; bit < sealed.length * 8; bit++) {
      const forged = Uint8Array.from(sealed);
      forged[bit >> 3]! ^= 1 << (bit & 7);
      expect(codec.open(`B${Buffer.from(forged).toString('base64url')}`)).toBeUndefined();
    }
    expect(codec.open(good)).toEqual(REF);
  });

  test.each([
    ['nothing', ''],
    ['a cut one', good.slice(0, -1)],
    ['a longer one', `${good}A`],
    ['the shortest that is too short', `B${'A'.repeat(63)}`],
    ['the longest and one more', `B${'A'.repeat(151)}`],
    ['padding', `${good}=`],
    ['a newline', `${good}\n`],
    ['standard base64', `${good.slice(0, 20)}+${good.slice(21)}`],
    ['an unknown key', `C${good.slice(1)}`],
    ['a ufrag', new UfragCodec([NEW]).seal({ ...REF, expiresAt: Date.UTC(2027) })],
  ])('%s is refused', (_, token) => {
    expect(codec.open(token)).toBeUndefined();
  });

  test('has one spelling', async () => {
    // 52 bytes leave 4 bits of the last character unused.
    const token = await codec.seal({ ...REF, tenant: 'abcd' });
    const next = String.fromCharCode(token.charCodeAt(token.length - 1) + 1);
    expect(Buffer.from(token.slice(1, -1) + next, 'base64url')).toEqual(
      Buffer.from(token.slice(1), 'base64url'),
    );
    expect(codec.open(token.slice(0, -1) + next)).toBeUndefined();
  });

  test.each([
    ['cluster', { cluster: 65_536 }],
    ['cluster without an id', { cluster: 0 }],
    ['transceiver', { transceiver: -1 }],
    ['broken cluster', { cluster: NaN }],
    ['call', { call: 'C0FFEE' }],
    ['tenant', { tenant: 'é'.repeat(MAX_TENANT_BYTES / 2 + 1) }],
  ])('is not made of a %s that does not fit', async (_, change) => {
    await expect(codec.seal({ ...REF, ...change })).rejects.toThrow(RangeError);
  });

  test('any call comes back', async () => {
    const ref = fc.record({
      cluster: fc.integer({ min: 1, max: 0xffff }),
      transceiver: fc.nat(0xffff),
      call: fc
        .uint8Array({ minLength: 16, maxLength: 16 })
        .map((bytes) => Buffer.from(bytes).toString('hex')),
      tenant: fc.string({ unit: 'binary', maxLength: 16 }),
    });
    await fc.assert(
      fc.asyncProperty(ref, async (sealed) => {
        expect(codec.open(await codec.seal(sealed))).toEqual(sealed);
      }),
    );
  });

  test('opening is total', () => {
    const shaped = fc
      .uint8Array({ minLength: 40, maxLength: 120 })
      .map((bytes) => `B${Buffer.from(bytes).toString('base64url')}`);
    fc.assert(
      fc.property(fc.oneof(shaped, fc.string({ unit: 'binary' })), (token) => {
        expect(codec.open(token)).toBeUndefined();
      }),
    );
  });

  test('new calls have names of their own', () => {
    const names = Array.from({ length: 50 }, newCall);
    for (const name of names) expect(name).toMatch(/^[0-9a-f]{32}$/);
    expect(new Set(names).size).toBe(50);
  });
});
