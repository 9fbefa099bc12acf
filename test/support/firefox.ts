/** Real Firefox, headless, whose microphone is a tone. It never sends media to a loopback address. */
import { launch, type Browser } from 'puppeteer-core';
import { findProgram } from './find-program.ts';

/** A browser with a new, empty profile. @param toneHz What its microphone hears. */
export async function launchFirefox(toneHz: number): Promise<Browser> {
  const executablePath = findProgram('firefox-esr') ?? findProgram('firefox');
  if (!executablePath) throw new Error('There is no Firefox; run: node test/prerequisites.ts');
  return launch({
    browser: 'firefox',
    executablePath,
    headless: true,
    extraPrefsFirefox: {
      'media.navigator.streams.fake': true,
      'media.navigator.audio.fake_frequency': toneHz,
      'media.navigator.permission.disabled': true,
      'media.autoplay.default': 0,
    },
  });
}
