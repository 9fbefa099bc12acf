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

/** Lets WebRTC send no UDP except by a proxy, as policies of companies do; there is no proxy here. */
const WITHOUT_UDP = '--webrtc-ip-handling-policy=disable_non_proxied_udp';

export interface ChromiumOptions {
  /** The person's answer when asked for it; `allow` unless given. */
  readonly microphone?: 'allow' | 'deny';
  /** Path of a WAV file that the microphone hears over and over, instead of beeps. */
  readonly microphoneFile?: string;
  /** False takes UDP away from WebRTC. */
  readonly udp?: boolean;
}

/** A browser with a new, empty profile. */
export async function launchChromium(options: ChromiumOptions = {}): Promise<Browser> {
  const { microphone = 'allow', microphoneFile, udp = true } = options;
  const executablePath = findProgram('chromium');
  if (!executablePath) throw new Error('There is no Chromium; run: node test/prerequisites.ts');
  return launch({
    executablePath,
    headless: true,
    args: [
      ...FLAGS,
      ...(microphone === 'allow' ? [ALLOW_MICROPHONE] : []),
      ...(microphoneFile ? [`--use-file-for-fake-audio-capture=${microphoneFile}`] : []),
      ...(udp ? [] : [WITHOUT_UDP]),
    ],
  });
}
