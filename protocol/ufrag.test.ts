import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { RoutingKey } from './routing-keys.ts';
import { UFRAG_EPOCH, UFRAG_LENGTH, UfragCodec, type Route } from './ufrag.ts';
import vectors from './vectors/ufrag.json' with { type: 'json' };

const MINUTE = 60_000;
const NOW = Date.UTC(2026, 5, 1);
const OLD: RoutingKey = { id: 'A', key: new Uint8Array(16).fill(1) };
const NEW: RoutingKey = { id: 'B', key: new Uint8Array(16).fill(2) };
const ROUTE: Route = { cluster: 2, transceiver: 7, expiresAt: NOW + 60 * MINUTE };

const bytesOf = (hex: string) => new Uint8Array(Buffer.from(hex, 'hex'));
const ascii = (text: string) => new TextEncoder().encode(text);
const codecOf = ({ keyId, key }: { keyId: string; key: string }) =>
  new UfragCodec([{ id: keyId, key: bytesOf(key) }]);

describe('known answers', () => {
  test('the epoch', () => {
    expect(UFRAG_EPOCH).toBe(Date.parse(vectors.epoch));
  });

  test.each(vectors.sealed)('$ufrag', (vector) => {
    const { cluster, transceiver, expiryMinutes, nonce, ufrag } = vector;
    const route = { cluster, transceiver, expiresAt: UFRAG_EPOCH + expiryMinutes * MINUTE };
    const codec = codecOf(vector);
    expect(codec.seal(route, bytesOf(nonce))).toBe(ufrag);
    expect(codec.open(ascii(ufrag), UFRAG_EPOCH)).toEqual({ ok: true, route });
  });

  test.each(vectors.refused)('$ufrag is refused: $why', (vector) => {
    const opened = codecOf(vector).open(ascii(vector.ufrag), UFRAG_EPOCH);
    expect(opened).toEqual({ ok: false, reason: vector.reason });
  });

  test('one codec seals and opens many blocks in any order', () => {
    const [first, second, third] = vectors.sealed;
    const codec = codecOf(first!);
    for (let i = 0; i < 100; i++) {
      for (const vector of [first!, second!]) {
        expect(codec.open(ascii(vector.ufrag), UFRAG_EPOCH).ok).toBe(true);
        expect(codec.open(ascii(third!.ufrag), UFRAG_EPOCH).ok).toBe(false);
        const { cluster, transceiver, expiryMinutes, nonce } = vector;
        const expiresAt = UFRAG_EPOCH + expiryMinutes * MINUTE;
        const route = { cluster, transceiver, expiresAt };
        expect(codec.seal(route, bytesOf(nonce))).toBe(vector.ufrag);
      }
    }
  });
});

describe('sealing', () => {
  test('gives 23 ice-chars, another text each time', () => {
    const codec = new UfragCodec([NEW]);
    const texts = Array.from({ length: 50 }, () => codec.seal(ROUTE));
    for (const text of texts) expect(text).toMatch(/^B[A-Za-z0-9+/]{22}$/);
    expect(new Set(texts).size).toBe(50);
  });

  test('rounds the expiry up to a whole minute', () => {
    const codec = new UfragCodec([NEW]);
    const opened = codec.open(ascii(codec.seal({ ...ROUTE, expiresAt: NOW + 1 })), NOW);
    expect(opened).toMatchObject({ route: { expiresAt: NOW + MINUTE } });
  });

  test.each([
    ['cluster 0', { cluster: 0 }, /^cluster must/],
    ['cluster 65536', { cluster: 65_536 }, /^cluster must/],
    ['a broken cluster', { cluster: 1.5 }, /^cluster must/],
    ['transceiver -1', { transceiver: -1 }, /^transceiver must/],
    ['transceiver 65536', { transceiver: 65_536 }, /^transceiver must/],
    ['an expiry before the epoch', { expiresAt: UFRAG_EPOCH - MINUTE }, /^expiry in minutes must/],
    [
      'an expiry past 2057',
      { expiresAt: UFRAG_EPOCH + 2 ** 24 * MINUTE },
      /^expiry in minutes must/,
    ],
    ['no number as expiry', { expiresAt: NaN }, /^expiry in minutes must/],
  ])('refuses %s', (_, change, message) => {
    expect(() => new UfragCodec([NEW]).seal({ ...ROUTE, ...change })).toThrow(message);
  });

  test('any route comes back', () => {
    const codec = new UfragCodec([NEW]);
    const route = fc.record({
      cluster: fc.integer({ min: 1, max: 0xffff }),
      transceiver: fc.integer({ min: 0, max: 0xffff }),
      expiresAt: fc.integer({ min: 1, max: 0xffffff }).map((m) => UFRAG_EPOCH + m * MINUTE),
    });
    fc.assert(
      fc.property(route, (sealed) => {
        expect(codec.open(ascii(codec.seal(sealed)), UFRAG_EPOCH)).toEqual({
          ok: true,
          route: sealed,
        });
      }),
    );
  });
});

describe('opening', () => {
  const codec = new UfragCodec([NEW, OLD]);
  const good = codec.seal(ROUTE);
  const open = (text: string, now = NOW) => codec.open(ascii(text), now);

  test('accepts both live keys and seals with the first', () => {
    expect(open(new UfragCodec([OLD]).seal(ROUTE))).toEqual({ ok: true, route: ROUTE });
    expect(good[0]).toBe('B');
    expect(open(good)).toEqual({ ok: true, route: ROUTE });
  });

  test('reads a ufrag in the midst of a packet', () => {
    const packet = ascii(`junk${good}:client`);
    expect(codec.open(packet, NOW, 4, 4 + UFRAG_LENGTH)).toEqual({ ok: true, route: ROUTE });
  });

  test('refuses a key it does not have', () => {
    expect(open(`C${good.slice(1)}`)).toEqual({ ok: false, reason: 'unknown-key' });
  });

  test('refuses a block sealed with another key under this id', () => {
    const foreign = new UfragCodec([{ id: 'B', key: OLD.key }]).seal(ROUTE);
    expect(open(foreign)).toEqual({ ok: false, reason: 'forged' });
  });

  test('holds to the millisecond of its expiry', () => {
    expect(open(good, ROUTE.expiresAt - 1).ok).toBe(true);
    expect(open(good, ROUTE.expiresAt)).toEqual({ ok: false, reason: 'expired' });
  });

  test.each([
    ['nothing', ''],
    ['22 characters', good.slice(0, 22)],
    ['24 characters', `${good}A`],
    ['a base64url character', `${good.slice(0, 10)}-${good.slice(11)}`],
    ['padding', `${good.slice(0, 22)}=`],
    ['a key id that is no ice-char', `_${good.slice(1)}`],
    ['a byte above ASCII', `${good.slice(0, 21)}é`],
  ])('refuses %s as malformed', (_, text) => {
    expect(open(text)).toEqual({ ok: false, reason: 'malformed' });
  });

  test('refuses every other spelling of the last character', () => {
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
    const head = good.slice(0, 22);
    const accepted = alphabet.split('').filter((last) => open(head + last).ok);
    expect(accepted).toEqual([good[22]]);
    const last = alphabet[alphabet.indexOf(good[22]!) + 1]!;
    expect(open(head + last)).toEqual({ ok: false, reason: 'malformed' });
  });

  test('refuses a good ufrag with any one bit turned', () => {
    for (let bit = 0; bit < UFRAG_LENGTH * 8; bit++) {
      const bytes = ascii(good);
      bytes[bit >> 3]! ^= 1 << (bit & 7);
      expect(codec.open(bytes, NOW).ok).toBe(false);
    }
  });

  test('is total on any bytes and works on afterwards', () => {
    const range = fc.tuple(fc.uint8Array({ maxLength: 60 }), fc.integer(), fc.integer());
    fc.assert(
      fc.property(range, ([bytes, start, end]) => {
        expect(codec.open(bytes, NOW).ok).toBe(false);
        expect(codec.open(bytes, NOW, start, end).ok).toBe(false);
        expect(open(good).ok).toBe(true);
      }),
    );
  });

  test('refuses random text of the right shape', () => {
    const shaped = fc.string({
      unit: fc.constantFrom(...'ABab09+/'.split('')),
      minLength: 22,
      maxLength: 22,
    });
    fc.assert(
      fc.property(shaped, (text) => {
        const opened = open(`B${text}`);
        expect(opened).toMatchObject({
          ok: false,
          reason: expect.stringMatching(/^(forged|malformed)$/),
        });
      }),
    );
  });
});
