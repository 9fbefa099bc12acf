import { expect, test } from 'vitest';
import { HANGOVER_MS, VoiceActivity } from './voice-activity.ts';

const FRAME_MS = 20;

/** Noise of that amplitude. */
function frames(count: number, amplitude: number): Int16Array[] {
  return Array.from({ length: count }, () =>
    Int16Array.from({ length: 480 }, () => (Math.random() * 2 - 1) * amplitude),
  );
}

/** What it says, with the frames at which it says so. */
function hear(activity: VoiceActivity, sound: readonly Int16Array[]) {
  return sound.flatMap((frame, at) => {
    const change = activity.hear(frame);
    return change ? [{ at, change }] : [];
  });
}

test('speech starts with sound and stops after a while of quiet', () => {
  const activity = new VoiceActivity(FRAME_MS);
  const sound = [...frames(50, 20), ...frames(50, 6_000), ...frames(60, 20)];
  const [start, stop, ...more] = hear(activity, sound);
  expect(start).toEqual({ at: 52, change: 'started' });
  expect(stop).toEqual({ at: 99 + HANGOVER_MS / FRAME_MS, change: 'stopped' });
  expect(more).toEqual([]);
});

test('a pause within a sentence, a click and a murmur are no change', () => {
  const activity = new VoiceActivity(FRAME_MS);
  expect(hear(activity, [...frames(20, 20), ...frames(2, 20_000), ...frames(20, 100)])).toEqual([]);
  const sentence = [...frames(20, 6_000), ...frames(15, 20), ...frames(20, 6_000)];
  expect(hear(activity, sentence)).toHaveLength(1);
});

test('a steady background is learned, and speech above it is still heard', () => {
  const activity = new VoiceActivity(FRAME_MS);
  hear(activity, [
    ...frames(25, 50),
    ...Array.from({ length: 30 }, (_, i) => frames(20, 50 + i * 20)).flat(),
  ]);
  activity.stop();
  expect(hear(activity, frames(200, 650))).toEqual([]);
  expect(hear(activity, frames(10, 12_000))).toMatchObject([{ change: 'started' }]);
});
