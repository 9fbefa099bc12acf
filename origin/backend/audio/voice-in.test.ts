import { describe, expect, test } from 'vitest';
import { FRAME_MS, type VoiceCodec } from './codec.ts';
import { openCodec } from './open-codec.ts';
import { VoiceIn } from './voice-in.ts';

const TICKS = 48;

/** A codec whose sound is one byte per millisecond: which packet, or `r`ecovered, `c`oncealed, `s`ilence. */
const codec: VoiceCodec = {
  format: { type: 'audio/pcmu' },
  bytesPerMs: 1,
  ticksPerMs: TICKS,
  decode: (payload) => (payload[0] === 0 ? undefined : new Uint8Array(FRAME_MS).fill(payload[0]!)),
  recover: (_next, ms) => new Uint8Array(ms).fill(0x72),
  conceal: (ms) => new Uint8Array(ms).fill(0x63),
  silence: (ms) => new Uint8Array(ms).fill(0x73),
  encode: (frame) => frame,
  free: () => undefined,
};

/** What is heard of packets that come at their time; letters for frames. */
function hear(arrivals: readonly (readonly [number, number])[], until: number): string {
  const heard: string[] = [];
  const voice = new VoiceIn(codec, (sound) => {
    const frames = Math.round(sound.length / FRAME_MS);
    heard.push(String.fromCharCode(sound[0]!).repeat(frames));
  });
  let next = 0;
  for (let now = 0; now <= until; now += 5) {
    for (; arrivals[next] && arrivals[next]![1] <= now; next++) {
      const index = arrivals[next]![0];
      const payload = Uint8Array.of(0x41 + index);
      const sequenceNumber = (65_530 + index) & 0xffff;
      const timestamp = index * FRAME_MS * TICKS;
      voice.packet({ payload, sequenceNumber, timestamp, marker: false }, now);
    }
    if (now % FRAME_MS === 0) voice.tick(now);
  }
  return heard.join('');
}

describe('what a client says', () => {
  test('is heard as it comes', () => {
    expect(
      hear(
        [0, 1, 2, 3].map((it) => [it, it * 20]),
        60,
      ),
    ).toBe('ABCD');
  });

  test('has what is lost filled: the last packet from its successor, others guessed', () => {
    const arrivals = [0, 1, 5, 6].map((it) => [it, it * 20] as const);
    expect(hear(arrivals, 180).slice(0, 7)).toMatch(/^AB[c]{2}rFG/);
  });

  test('goes on as silence when nothing comes, at the pace of the clock', () => {
    const heard = hear([[0, 0]], 1_000);
    expect(heard).toMatch(/^Ac+s+$/);
    expect(heard.length).toBeGreaterThan(44);
    expect(heard.length).toBeLessThanOrEqual(51);
  });

  test('is not made up for all the time that a process slept', () => {
    let heard = 0;
    const voice = new VoiceIn(codec, (sound) => (heard += sound.length));
    voice.packet({ payload: Uint8Array.of(1), sequenceNumber: 0, timestamp: 0, marker: false }, 0);
    voice.tick(600_000);
    expect(heard).toBeGreaterThan(500);
    expect(heard).toBeLessThan(1_100);
  });

  test('is as long as it took, whatever is lost', () => {
    const arrivals = Array.from({ length: 20 }, (_, i) => [i, i * 20] as const);
    const kept = arrivals.filter(([index]) => index % 3 !== 1);
    expect(hear(kept, 420)).toHaveLength(kept.at(-1)![0] + 1);
  });

  test('is heard at most at twice the pace of time, whatever timestamps say', () => {
    let heard = 0;
    const voice = new VoiceIn(codec, (sound) => (heard += sound.length));
    for (let i = 0; i < 10_000; i++) {
      const payload = Uint8Array.of(1);
      const timestamp = (i * 1_100 * TICKS) >>> 0;
      voice.packet({ payload, sequenceNumber: i & 0xffff, timestamp, marker: false }, i);
    }
    expect(heard).toBeGreaterThan(20_000);
    expect(heard).toBeLessThan(27_000);
  });

  test('comes after a gap in few pieces, however short the packets are', async () => {
    const pcmu = await openCodec('pcmu');
    let pieces = 0;
    const voice = new VoiceIn(pcmu, () => pieces++);
    const payload = Uint8Array.of(1);
    voice.packet({ payload, sequenceNumber: 0, timestamp: 0, marker: false }, 0);
    const timestamp = 2_900;
    voice.packet({ payload, sequenceNumber: 2_900, timestamp, marker: false }, 20);
    voice.tick(85);
    expect(pieces).toBeGreaterThan(2);
    expect(pieces).toBeLessThan(25);
  });
});
