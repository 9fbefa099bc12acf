/** Real Chromium, headless, with a fake microphone that beeps once a second. */
import { launch, type Browser } from 'puppeteer-core';
import { findProgram } from './find-program.ts';

const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--use-fake-device-for-media-stream',
  '--autoplay-policy=no-user-gesture-required',
];

/** Says yes whenever a page asks for the microphone. */
const ALLOW_MICROPHONE = '--use-fake-ui-for-media-stream';

/** A browser with a new, empty profile. @param microphone The person's answer when asked for it. */
export async function launchChromium(microphone: 'allow' | 'deny' = 'allow'): Promise<Browser> {
  const executablePath = findProgram('chromium');
  if (!executablePath) throw new Error('There is no Chromium; run: node test/prerequisites.ts');
  return launch({
    executablePath,
    headless: true,
    args: microphone === 'allow' ? [...FLAGS, ALLOW_MICROPHONE] : FLAGS,
  });
}
