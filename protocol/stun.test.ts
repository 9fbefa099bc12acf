import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { MAX_USERNAME_LENGTH, readStun, STUN_BINDING, STUN_HEADER_LENGTH } from './stun.ts';
import vectors from './vectors/stun.json' with { type: 'json' };

const USERNAME = 0x0006;
const MESSAGE_INTEGRITY = 0x0008;
const MESSAGE_INTEGRITY_SHA256 = 0x001c;
const META_DTLS_IN_STUN = 0xc070;
const TRANSACTION = Uint8Array.from({ length: 12 }, (_, i) => i + 1);

const bytesOf = (hex: string) => new Uint8Array(Buffer.from(hex, 'hex'));
const textOf = (bytes: Uint8Array | undefined) => bytes && Buffer.from(bytes).toString('utf8');
const ascii = (text: string) => new TextEncoder().encode(text);

/** An attribute; padded with 0x20, as RFC 5769 pads. */
function attribute(type: number, value: Uint8Array, size = value.length): Uint8Array {
  const out = new Uint8Array(4 + value.length + (-value.length & 3)).fill(0x20);
  const view = new DataView(out.buffer);
  view.setUint16(0, type);
  view.setUint16(2, size);
  out.set(value, 4);
  return out;
}

function message(type: number, ...attributes: Uint8Array[]): Uint8Array {
  const body = new Uint8Array(Buffer.concat(attributes));
  const out = new Uint8Array(STUN_HEADER_LENGTH + body.length);
  const view = new DataView(out.buffer);
  view.setUint16(0, type);
  view.setUint16(2, body.length);
  view.setUint32(4, 0x2112a442);
  out.set(TRANSACTION, 8);
  out.set(body, STUN_HEADER_LENGTH);
  return out;
}

describe('RFC 5769', () => {
  test.each(vectors.messages)('$section', ({ bytes, class: kind, transactionId, username }) => {
    const read = readStun(bytesOf(bytes));
    expect(read).toMatchObject({ class: kind, method: STUN_BINDING });
    expect(read!.transactionId).toEqual(bytesOf(transactionId));
    expect(textOf(read!.username)).toBe(username ?? undefined);
  });

  test.each(vectors.messages)('$section, cut or prolonged, is no message', ({ bytes }) => {
    const whole = bytesOf(bytes);
    for (let end = 0; end < whole.length; end++) {
      expect(readStun(whole.subarray(0, end))).toBeUndefined();
      expect(readStun(whole, 0, end)).toBeUndefined();
    }
    expect(readStun(Uint8Array.of(...whole, 0, 0, 0, 0))).toBeUndefined();
  });
});

describe('type', () => {
  test.each([
    [0x0001, 'request', 0x001],
    [0x0011, 'indication', 0x001],
    [0x0101, 'success', 0x001],
    [0x0111, 'error', 0x001],
    [0x0200, 'request', 0x080],
    [0x0300, 'success', 0x080],
    [0x0004, 'request', 0x004],
    [0x3eef, 'request', 0xfff],
    [0x3fff, 'error', 0xfff],
  ])('%i is a %s of method %i', (type, kind, method) => {
    expect(readStun(message(type))).toEqual({
      class: kind,
      method,
      transactionId: TRANSACTION,
      username: undefined,
    });
  });
});

describe('USERNAME', () => {
  test.each([0, 1, 2, 3, 4, 5, 508, 509, MAX_USERNAME_LENGTH])('of %i bytes', (size) => {
    const value = ascii('u'.repeat(size));
    expect(readStun(message(1, attribute(USERNAME, value)))!.username).toEqual(value);
  });

  test('of more bytes than RFC 8489 asks to accept is refused', () => {
    const value = new Uint8Array(MAX_USERNAME_LENGTH + 1);
    expect(readStun(message(1, attribute(USERNAME, value)))).toBeUndefined();
  });

  test('is found behind attributes nobody knows', () => {
    const packet = message(
      1,
      attribute(0x7fff, new Uint8Array(5)),
      attribute(0xc057, new Uint8Array(0)),
      attribute(USERNAME, ascii('server:client')),
    );
    expect(textOf(readStun(packet)!.username)).toBe('server:client');
  });

  test('is the first of several', () => {
    const names = ['first', 'second'].map((name) => attribute(USERNAME, ascii(name)));
    expect(textOf(readStun(message(1, ...names))!.username)).toBe('first');
  });

  test.each([MESSAGE_INTEGRITY, MESSAGE_INTEGRITY_SHA256])(
    'behind attribute %i, which does not cover it, is ignored',
    (type) => {
      const integrity = attribute(type, new Uint8Array(20));
      const late = attribute(USERNAME, ascii('late'));
      expect(readStun(message(1, integrity, late))!.username).toBeUndefined();
    },
  );
});

describe('a message', () => {
  test('with DTLS in it may be as large as a datagram', () => {
    const packet = message(
      1,
      attribute(META_DTLS_IN_STUN, new Uint8Array(1200).fill(22)),
      attribute(USERNAME, ascii('server:client')),
    );
    expect(packet.length).toBeGreaterThan(1200);
    expect(textOf(readStun(packet)!.username)).toBe('server:client');
    const huge = message(1, attribute(META_DTLS_IN_STUN, new Uint8Array(65_000)));
    expect(readStun(huge)).toBeDefined();
  });

  test('is read where it lies, as views into the packet', () => {
    const alone = message(1, attribute(USERNAME, ascii('server:client')));
    const buffer = new Uint8Array(alone.length + 30).fill(0xff);
    buffer.set(alone, 13);
    const packet = buffer.subarray(3);
    const read = readStun(packet, 10, 10 + alone.length)!;
    expect(read).toEqual(readStun(alone));
    expect(read.username!.buffer).toBe(buffer.buffer);
    expect(read.transactionId.byteOffset).toBe(13 + 8);
  });

  const good = message(1, attribute(USERNAME, ascii('abcd')));
  const changed = (at: number, value: number) => {
    const bytes = good.slice();
    bytes[at] = value;
    return bytes;
  };

  test.each([
    ['nothing', new Uint8Array()],
    ['19 bytes', good.slice(0, 19)],
    ['a DTLS record', bytesOf(`16fefd0000000000000000000e${'00'.repeat(14)}`)],
    ['a first bit of RTP', changed(0, 0x80)],
    ['the other first bit', changed(0, 0x40)],
    ['no magic cookie, as in RFC 3489', changed(4, 0)],
    ['a length that is no multiple of 4', Uint8Array.of(...changed(3, 9), 0)],
    ['a length too small', changed(3, 4)],
    ['a length too large', changed(3, 12)],
    ['an attribute that leaves the message', changed(23, 5)],
    ['an attribute far too large', changed(22, 0xff)],
  ])('is not %s', (_, bytes) => {
    expect(readStun(bytes)).toBeUndefined();
  });

  test.each([
    ['a negative start', -1, good.length],
    ['an end past the packet', 0, good.length + 1],
    ['an end before the start', 8, 4],
  ])('is not read from %s', (_, start, end) => {
    // The packet is a view with more bytes behind it, as in a slab.
    const slab = new Uint8Array(200);
    slab.set(good, 50);
    expect(readStun(slab.subarray(50, 50 + good.length), start, end)).toBeUndefined();
  });
});

describe('any bytes', () => {
  const value = fc.uint8Array({ maxLength: 40 });
  const type = fc.oneof(
    fc.constantFrom(USERNAME, MESSAGE_INTEGRITY, MESSAGE_INTEGRITY_SHA256),
    fc.nat(0xffff),
  );
  const size = fc.option(fc.nat(0xffff), { freq: 3, nil: undefined });
  const anyAttribute = fc.tuple(type, value, size).map((parts) => attribute(...parts));
  const almost = fc
    .tuple(fc.nat(0x3fff), fc.array(anyAttribute, { maxLength: 6 }))
    .map(([kind, attributes]) => message(kind, ...attributes));

  test('never throw, and what is read lies inside the packet', () => {
    fc.assert(
      fc.property(
        fc.oneof(almost, fc.uint8Array({ maxLength: 100 })),
        fc.nat(9),
        (bytes, before) => {
          const slab = new Uint8Array(before + bytes.length + 9);
          slab.set(bytes, before);
          const read = readStun(slab, before, before + bytes.length);
          for (const view of read
            ? [read.transactionId, read.username ?? read.transactionId]
            : []) {
            expect(view.buffer).toBe(slab.buffer);
            expect(view.byteOffset).toBeGreaterThanOrEqual(before);
            expect(view.byteOffset + view.length).toBeLessThanOrEqual(before + bytes.length);
          }
          expect(read).toEqual(readStun(bytes));
        },
      ),
      { numRuns: 500 },
    );
  });

  test('never throw with any bounds', () => {
    fc.assert(
      fc.property(almost, fc.integer(), fc.integer(), (bytes, start, end) => {
        expect(() => readStun(bytes, start, end)).not.toThrow();
      }),
    );
  });
});
