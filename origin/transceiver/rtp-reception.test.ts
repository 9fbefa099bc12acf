import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { RtpReception } from './rtp-reception.ts';

const CLOCK = 48_000;
const SPACING = 20;

/** Packets of 20 ms each at their pace, but for those left out and those late. */
function receive(
  sequences: readonly number[],
  lateMs: (sequence: number) => number = () => 0,
): RtpReception {
  const reception = new RtpReception(3, sequences[0]! & 0xffff, CLOCK);
  for (const it of sequences) {
    const timestamp = (it * 960) >>> 0;
    reception.onPacket(it & 0xffff, timestamp, it * SPACING + lateMs(it));
  }
  return reception;
}

const range = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i);

test('an even stream has no loss and no jitter', () => {
  const reception = receive(range(65_500, 65_700));
  expect(reception.lost).toBe(0);
  expect(reception.jitterMs).toBe(0);
  expect(reception.block(0)).toMatchObject({ ssrc: 3, highestSequence: 65_699, fractionLost: 0 });
});

test('timestamps may pass their end', () => {
  const from = Math.floor(2 ** 32 / 960) - 10;
  expect(receive(range(from, from + 20)).jitterMs).toBe(0);
});

test('loss is told in whole and since the report before', () => {
  const reception = receive(range(100, 200).filter((it) => it % 4 !== 1));
  expect(reception.lost).toBe(25);
  expect(reception.block(0)).toMatchObject({ lost: 25, fractionLost: 64 });
  expect(reception.hasNews).toBe(false);
  for (const it of range(200, 300)) reception.onPacket(it, it * 960, it * SPACING);
  expect(reception.block(0)).toMatchObject({ lost: 25, fractionLost: 0 });
});

test('disorder is no loss', () => {
  expect(receive([1, 3, 2, 5, 4, 6]).lost).toBe(0);
});

test('jitter comes near the mean difference of two transit times', () => {
  const reception = receive(range(0, 400), (it) => (it % 2 ? 10 : 0));
  expect(reception.jitterMs).toBeCloseTo(10, 1);
});

test('a sender report comes back as its middle and the time since', () => {
  const reception = receive([1]);
  const report = { rtpTimestamp: 0, packets: 0, octets: 0 };
  reception.onSenderReport({ ntpSeconds: 0x1234_5678, ntpFraction: 0x9abc_def0, ...report }, 500);
  expect(reception.block(1_500)).toMatchObject({ lastReport: 0x5678_9abc, delay: 65_536 });
});

test('any stream gives a block that fits', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.nat(0xffff), fc.nat(0xffff_ffff)), { minLength: 1, maxLength: 200 }),
      (packets) => {
        const reception = new RtpReception(1, packets[0]![0], CLOCK);
        for (const [i, [sequence, timestamp]] of packets.entries()) {
          reception.onPacket(sequence, timestamp, i);
        }
        const { fractionLost, lost, jitter, highestSequence } = reception.block(1_000);
        for (const it of [fractionLost, jitter, highestSequence]) {
          expect(it).toBeGreaterThanOrEqual(0);
          expect(it).toBeLessThan(2 ** 32);
        }
        expect(fractionLost).toBeLessThan(256);
        expect(Math.abs(lost)).toBeLessThan(2 ** 23);
      },
    ),
  );
});
