import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { FRAME_HEADER_LENGTH, FrameReader, frame } from './rfc4571.ts';

const LARGEST = 300;

/** All that a reader finds in the chunks, and whether it could go on. */
function readAll(chunks: readonly Uint8Array[], reader = new FrameReader(LARGEST)) {
  const packets: Buffer[] = [];
  const isInFrames = chunks.every((chunk) =>
    reader.read(chunk, (packet) => packets.push(Buffer.from(packet))),
  );
  return { packets, isInFrames, isMidFrame: reader.isMidFrame };
}

function framed(...packets: Uint8Array[]): Buffer {
  return Buffer.concat(packets.map((packet) => frame(packet, 0, packet.length)));
}

/** The stream in pieces that end at these places, in any order and outside it too. */
function cut(stream: Uint8Array, places: readonly number[]): Uint8Array[] {
  const ends = [...places.map((place) => place % (stream.length + 1)), stream.length];
  const sorted = ends.toSorted((a, b) => a - b);
  return sorted.map((end, i) => stream.subarray(i === 0 ? 0 : sorted[i - 1], end));
}

test('a frame is the packet’s length in 16 bits, then the packet', () => {
  const packet = Buffer.alloc(LARGEST, 'x');
  expect(Buffer.from(frame(packet, 10, 13))).toEqual(Buffer.from([0, 3, ...Buffer.from('xxx')]));
  expect(frame(packet, 0, LARGEST).subarray(0, FRAME_HEADER_LENGTH)).toEqual(Uint8Array.of(1, 44));
});

test('a stream that comes byte by byte gives the same packets', () => {
  const packets = ['one', 'two', 'three'].map((text) => Buffer.from(text));
  const bytes = Array.from(framed(...packets), (byte) => Uint8Array.of(byte));
  expect(readAll(bytes)).toEqual({ packets, isInFrames: true, isMidFrame: false });
});

test('it is in the midst of a frame from the first byte of a header to the last of the packet', () => {
  const stream = framed(Buffer.from('ab'));
  const states = Array.from({ length: stream.length + 1 }, (_, length) => {
    return readAll([stream.subarray(0, length)]).isMidFrame;
  });
  expect(states).toEqual([false, true, true, true, false]);
});

test('packets of no bytes are left out', () => {
  const stream = framed(Buffer.alloc(0), Buffer.from('a'), Buffer.alloc(0));
  const ways = [[stream], Array.from(stream, (byte) => Uint8Array.of(byte))];
  for (const chunks of ways) {
    expect(readAll(chunks)).toEqual({
      packets: [Buffer.from('a')],
      isInFrames: true,
      isMidFrame: false,
    });
  }
});

describe('a packet longer than the largest', () => {
  const small = Buffer.from('small');
  const largest = Buffer.alloc(LARGEST, 'x');
  const larger = Buffer.alloc(LARGEST + 1, 'x');

  test('ends the reading, behind all that came before it', () => {
    expect(readAll([framed(small, larger, small)])).toMatchObject({
      packets: [small],
      isInFrames: false,
    });
    expect(readAll([framed(small, largest, small)])).toMatchObject({
      packets: [small, largest, small],
      isInFrames: true,
    });
  });

  test('is known by its header alone', () => {
    const header = framed(larger).subarray(0, FRAME_HEADER_LENGTH);
    expect(readAll([header]).isInFrames).toBe(false);
    expect(readAll(Array.from(header, (byte) => Uint8Array.of(byte))).isInFrames).toBe(false);
  });
});

const places = fc.array(fc.nat(), { maxLength: 20 });

test('however a stream is cut, its packets come out whole and in order', () => {
  const packet = fc.uint8Array({ minLength: 1, maxLength: LARGEST });
  fc.assert(
    fc.property(fc.array(packet, { maxLength: 20 }), places, (packets, ends) => {
      const { packets: got, ...rest } = readAll(cut(framed(...packets), ends));
      expect(got).toEqual(packets.map((bytes) => Buffer.from(bytes)));
      expect(rest).toEqual({ isInFrames: true, isMidFrame: false });
    }),
  );
});

test('any bytes, cut anywhere, give the same as at once, and no packet too long', () => {
  // Small first bytes make frames of it, not only oversized ones.
  const bytes = fc.array(fc.oneof(fc.constant(0), fc.nat(255)), { maxLength: 2000 });
  fc.assert(
    fc.property(bytes, places, (list, ends) => {
      const stream = Uint8Array.from(list);
      const whole = readAll([stream]);
      const { packets, isInFrames } = readAll(cut(stream, ends));
      expect({ packets, isInFrames }).toEqual({
        packets: whole.packets,
        isInFrames: whole.isInFrames,
      });
      for (const { length } of packets) expect(length).toBeLessThanOrEqual(LARGEST);
    }),
    { numRuns: 1000 },
  );
});
