import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseAddress } from './address.ts';
import {
  setTrunkFlags,
  setTrunkLength,
  TRUNK_CLIENT,
  TRUNK_DOWN,
  TRUNK_HEADER_LENGTH,
  TRUNK_LISTENER,
  TRUNK_MAGIC,
  TRUNK_PASSED,
  TRUNK_PROXY,
  trunkClientPort,
  trunkFlags,
  hasTrunkFrame,
  trunkFrameEnd,
  trunkProxyPort,
  writeTrunkHeader,
} from './trunk.ts';

interface Frame {
  readonly flags: number;
  readonly listener: number;
  readonly client: Uint8Array;
  readonly clientPort: number;
  readonly proxy: Uint8Array;
  readonly proxyPort: number;
  readonly payload: Uint8Array;
}

const FRAME: Frame = {
  flags: 0,
  listener: 1,
  client: parseAddress('192.0.2.7'),
  clientPort: 0xabcd,
  proxy: parseAddress('2001:db8::1'),
  proxyPort: 3479,
  payload: Uint8Array.of(0xde, 0xad),
};

function encode(...frames: Frame[]): Uint8Array {
  const size = frames.reduce((sum, { payload }) => sum + TRUNK_HEADER_LENGTH + payload.length, 0);
  const out = new Uint8Array(size);
  let at = 0;
  for (const { flags, listener, client, clientPort, proxy, proxyPort, payload } of frames) {
    const { length } = payload;
    writeTrunkHeader(out, at, flags, listener, length, client, 0, clientPort, proxy, 0, proxyPort);
    out.set(payload, at + TRUNK_HEADER_LENGTH);
    at += TRUNK_HEADER_LENGTH + length;
  }
  return out;
}

function decode(bytes: Uint8Array, start = 0, end = bytes.length): Frame[] {
  const frames: Frame[] = [];
  let at = start;
  do {
    const next = trunkFrameEnd(bytes, at, end);
    if (next === -1) break;
    frames.push({
      flags: trunkFlags(bytes, at),
      listener: bytes[at + TRUNK_LISTENER]!,
      client: bytes.slice(at + TRUNK_CLIENT, at + TRUNK_PROXY),
      clientPort: trunkClientPort(bytes, at),
      proxy: bytes.slice(at + TRUNK_PROXY, at + TRUNK_PROXY + 16),
      proxyPort: trunkProxyPort(bytes, at),
      payload: bytes.slice(at + TRUNK_HEADER_LENGTH, next),
    });
    at = next;
  } while (hasTrunkFrame(bytes, at, end));
  return frames;
}

const address = fc.uint8Array({ minLength: 16, maxLength: 16 });
const frame: fc.Arbitrary<Frame> = fc.record({
  flags: fc.nat(3),
  listener: fc.nat(255),
  client: address,
  clientPort: fc.nat(0xffff),
  proxy: address,
  proxyPort: fc.nat(0xffff),
  payload: fc.uint8Array({ minLength: 1, maxLength: 300 }),
});

describe('a frame', () => {
  test('has the layout that is written down', () => {
    expect(Buffer.from(encode(FRAME)).toString('hex')).toBe(
      'c4010002' +
        '00000000000000000000ffffc0000207' +
        '20010db8000000000000000000000001' +
        'abcd0d97' +
        'dead',
    );
  });

  test('takes its addresses from the midst of other arrays', () => {
    const addresses = new Uint8Array(40);
    addresses.set(FRAME.client, 3);
    addresses.set(FRAME.proxy, 21);
    const out = new Uint8Array(TRUNK_HEADER_LENGTH + 2);
    writeTrunkHeader(out, 0, 0, 1, 2, addresses, 3, 0xabcd, addresses, 21, 3479);
    out.set(FRAME.payload, TRUNK_HEADER_LENGTH);
    expect(decode(out)).toEqual([FRAME]);
  });

  test('becomes a reply by its flags and length alone', () => {
    const bytes = encode(FRAME);
    setTrunkFlags(bytes, 0, TRUNK_DOWN);
    setTrunkLength(bytes, 0, 1);
    expect(decode(bytes, 0, bytes.length - 1)).toEqual([
      { ...FRAME, flags: TRUNK_DOWN, payload: FRAME.payload.slice(0, 1) },
    ]);
    setTrunkFlags(bytes, 0, trunkFlags(bytes, 0) | TRUNK_PASSED);
    expect(trunkFlags(bytes, 0)).toBe(TRUNK_DOWN | TRUNK_PASSED);
  });

  test('never passes for media', () => {
    for (let flags = 0; flags < 4; flags++) expect(TRUNK_MAGIC | flags).toBeGreaterThan(191);
  });

  test('can hold the largest payload', () => {
    const large = { ...FRAME, payload: new Uint8Array(0xffff).fill(7) };
    expect(decode(encode(large))).toEqual([large]);
  });
});

describe('a datagram', () => {
  test('of any frames comes back, at any offset', () => {
    fc.assert(
      fc.property(fc.array(frame, { maxLength: 8 }), fc.nat(20), (frames, start) => {
        const encoded = encode(...frames);
        const bytes = new Uint8Array(start + encoded.length + 50).fill(TRUNK_MAGIC);
        bytes.set(encoded, start);
        expect(decode(bytes, start, start + encoded.length)).toEqual(frames);
      }),
    );
  });

  test('may be padded with zeros behind its frames', () => {
    fc.assert(
      fc.property(fc.array(frame, { minLength: 1, maxLength: 5 }), fc.nat(99), (frames, zeros) => {
        const bytes = encode(...frames);
        expect(decode(Uint8Array.of(...bytes, ...new Uint8Array(zeros)))).toEqual(frames);
      }),
    );
  });

  test('keeps the whole frames before one that is cut', () => {
    const bytes = encode(FRAME, FRAME);
    for (let end = bytes.length / 2; end < bytes.length; end++) {
      expect(decode(bytes, 0, end)).toEqual([FRAME]);
    }
  });
});

describe('no frame is', () => {
  const good = encode(FRAME);
  const changed = (at: number, value: number) => {
    const bytes = good.slice();
    bytes[at] = value;
    return bytes;
  };

  test.each([
    ['nothing', new Uint8Array()],
    ['one byte', good.slice(0, 1)],
    ['a cut header', good.slice(0, TRUNK_HEADER_LENGTH - 1)],
    ['a header alone', good.slice(0, TRUNK_HEADER_LENGTH)],
    ['a header that says it is alone', changed(3, 0).slice(0, TRUNK_HEADER_LENGTH)],
    ['an empty payload', changed(3, 0)],
    ['a payload one byte short', changed(3, 3)],
    ['a payload far too long', changed(2, 0xff)],
    ['an unknown flag', changed(0, TRUNK_MAGIC | 0x08)],
    ['STUN', changed(0, 0)],
    ['RTP', changed(0, 0x80)],
  ])('%s', (_, bytes) => {
    expect(trunkFrameEnd(bytes, 0, bytes.length)).toBe(-1);
  });

  test('any first byte but four', () => {
    const accepted = Array.from({ length: 256 }, (_, first) => first).filter(
      (first) => trunkFrameEnd(changed(0, first), 0, good.length) !== -1,
    );
    expect(accepted).toEqual([0xc4, 0xc5, 0xc6, 0xc7]);
  });

  test('anything that would not move on or would leave the datagram', () => {
    const start = fc.constantFrom(TRUNK_MAGIC, TRUNK_MAGIC | TRUNK_DOWN, 0);
    const bytes = fc
      .tuple(start, fc.uint8Array({ maxLength: 120 }))
      .map(([first, rest]) => Uint8Array.of(first, 0, 0, ...rest));
    fc.assert(
      fc.property(bytes, fc.nat(130), fc.nat(130), (any, at, end) => {
        const next = trunkFrameEnd(any, at, Math.min(end, any.length));
        expect(next === -1 || (next > at + TRUNK_HEADER_LENGTH && next <= end)).toBe(true);
      }),
    );
  });
});
