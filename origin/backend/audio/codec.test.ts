import { createDecoder, createEncoder } from 'libopus-wasm';
import { afterEach, describe, expect, test } from 'vitest';
import * as fc from 'fast-check';
import { toneSamples, toneShare } from '../../../local/tone.ts';
import { FRAME_MS, type VoiceCodec } from './codec.ts';
import { expandG711 } from './g711.ts';
import { openCodec } from './open-codec.ts';

const RATE = 24_000;
const FRAME = (FRAME_MS * RATE) / 1000;
const TONE = 440;

const open: VoiceCodec[] = [];
afterEach(() => open.splice(0).forEach((codec) => codec.free()));

async function codecOf(name: Parameters<typeof openCodec>[0]): Promise<VoiceCodec> {
  const codec = await openCodec(name);
  open.push(codec);
  return codec;
}

function toneFrame(index: number): Uint8Array {
  return new Uint8Array(toneSamples(TONE, RATE, index * FRAME, FRAME, 8_000).buffer);
}

function samplesOf(sounds: readonly Uint8Array[]): Int16Array {
  return new Int16Array(Uint8Array.from(sounds.flatMap((sound) => [...sound])).buffer);
}

describe('opus', () => {
  test('a tone comes out as it went in, a frame for a frame', async () => {
    const codec = await codecOf('opus');
    const sounds = Array.from({ length: 25 }, (_, i) => codec.decode(codec.encode(toneFrame(i)))!);
    for (const sound of sounds) expect(sound).toHaveLength(FRAME_MS * codec.bytesPerMs);
    const samples = samplesOf(sounds.slice(5));
    expect(toneShare(samples, TONE, RATE)).toBeGreaterThan(0.95);
  });

  test('takes packets of any length, in stereo of 48 kHz too', async () => {
    const codec = await codecOf('opus');
    for (const ms of [10, 20, 40, 60] as const) {
      const frameSize = ms * 48;
      const encoder = await createEncoder({ channels: 2, sampleRate: 48_000, frameSize });
      const sound = codec.decode(encoder.encode(new Int16Array(2 * frameSize)));
      expect(sound).toHaveLength(ms * codec.bytesPerMs);
      encoder.free();
    }
  });

  test('a lost packet is recovered from the next one, better than it is guessed', async () => {
    const sender = await codecOf('opus');
    const share = async (recover: boolean) => {
      const receiver = await codecOf('opus');
      const sounds: Uint8Array[] = [];
      let skipped = false;
      for (let i = 0; i < 60; i++) {
        // The pitch changes, so that the past does not tell what is lost.
        const hz = Math.floor(i / 3) % 2 === 0 ? 300 : 700;
        const samples = toneSamples(hz, RATE, i * FRAME, FRAME, 8_000);
        const packet = sender.encode(new Uint8Array(samples.buffer));
        if (i % 3 === 0 && i > 6) {
          skipped = true;
          continue;
        }
        if (skipped) {
          const back = recover ? receiver.recover(packet, FRAME_MS) : receiver.conceal(FRAME_MS);
          if (hz === 700) sounds.push(back);
        }
        skipped = false;
        receiver.decode(packet);
      }
      return toneShare(samplesOf(sounds.slice(0, 1)), 700, RATE);
    };
    expect(await share(true)).toBeGreaterThan(await share(false));
  });

  test('what is no Opus gives nothing, and does not throw', async () => {
    const codec = await codecOf('opus');
    expect(codec.decode(new Uint8Array(0))).toBeUndefined();
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 1_500 }), (payload) => {
        const sound = codec.decode(payload);
        expect(sound?.length ?? 0).toBeLessThanOrEqual(120 * codec.bytesPerMs);
        codec.recover(payload, FRAME_MS);
      }),
    );
    const decoder = await createDecoder({ channels: 1, sampleRate: RATE });
    expect(decoder.decode(codec.encode(toneFrame(0)))).toHaveLength(FRAME);
    decoder.free();
  });
});

describe.each(['pcmu', 'pcma'] as const)('%s', (name) => {
  test('passes as it is, and is silent where nothing came', async () => {
    const codec = await codecOf(name);
    const payload = Uint8Array.from({ length: 160 }, (_, i) => i);
    expect(codec.format).toEqual({ type: `audio/${name}` });
    expect(codec.decode(payload)).toBe(payload);
    expect(codec.encode(payload)).toBe(payload);
    expect(codec.decode(new Uint8Array(961))).toBeUndefined();
    expect(codec.conceal(FRAME_MS)).toHaveLength(160);
    for (const sample of expandG711(name, codec.silence(FRAME_MS))) {
      expect(Math.abs(sample)).toBeLessThanOrEqual(8);
    }
  });
});

// Values of ITU-T G.711, tables 1a and 2a, as 16-bit samples.
test('G.711 codes are the samples that the standard says', () => {
  expect([...expandG711('pcmu', Uint8Array.of(0x00, 0x80, 0x7f, 0xff, 0x8f))]).toEqual([
    -32_124, 32_124, 0, 0, 16_764,
  ]);
  expect([...expandG711('pcma', Uint8Array.of(0xd5, 0x55, 0xaa, 0x2a))]).toEqual([
    8, -8, 32_256, -32_256,
  ]);
});
