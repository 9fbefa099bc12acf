import { describe, expect, test } from 'vitest';
import { peak, TONE_WINDOW, ToneListener, toneSamples, toneShare } from './tone.ts';

const RATE = 48_000;
const LENGTH = (RATE * TONE_WINDOW) / 1000;

function noise(): Int16Array {
  // A fixed linear congruential generator: the same noise each run.
  let state = 1;
  return Int16Array.from({ length: LENGTH }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return (state >>> 16) - 32768;
  });
}

describe('the share of a tone', () => {
  test('is 1 for the tone itself, however loud', () => {
    for (const amplitude of [100, 8000, 32767]) {
      expect(toneShare(toneSamples(440, RATE, 7, LENGTH, amplitude), 440, RATE)).toBeGreaterThan(
        0.99,
      );
    }
  });

  test('is small for another tone, noise and a voice-like mix', () => {
    expect(toneShare(toneSamples(450, RATE, 0, LENGTH, 8000), 440, RATE)).toBeLessThan(0.1);
    expect(toneShare(toneSamples(880, RATE, 0, LENGTH, 8000), 440, RATE)).toBeLessThan(0.01);
    expect(toneShare(noise(), 440, RATE)).toBeLessThan(0.05);
  });

  test('is 0 for silence and for nothing', () => {
    expect(toneShare(new Int16Array(LENGTH), 440, RATE)).toBe(0);
    expect(toneShare(new Int16Array(0), 440, RATE)).toBe(0);
  });
});

describe('a listener', () => {
  test('hears a tone that comes in small frames once it lasted', () => {
    const listener = new ToneListener(440);
    for (let at = 0; at < LENGTH - 480; at += 480) {
      listener.hear(toneSamples(440, RATE, at, 480, 8000), RATE);
      expect(listener.share).toBe(0);
    }
    listener.hear(toneSamples(440, RATE, LENGTH - 480, 480, 8000), RATE);
    expect(listener.share).toBeGreaterThan(0.99);
  });

  test('forgets it when it ends or the rate changes', () => {
    const listener = new ToneListener(440);
    listener.hear(toneSamples(440, RATE, 0, 3 * LENGTH, 8000), RATE);
    expect(listener.share).toBeGreaterThan(0.99);
    listener.hear(new Int16Array(LENGTH), RATE);
    expect(listener.share).toBe(0);
    listener.hear(toneSamples(440, RATE, 0, LENGTH, 8000), RATE);
    listener.hear(toneSamples(440, 16_000, 0, 160, 8000), 16_000);
    expect(listener.share).toBe(0);
  });
});

test('the peak is the loudest sample', () => {
  expect(peak(Int16Array.of(3, -9, 8))).toBe(9);
  expect(peak(new Int16Array(0))).toBe(0);
});
