/**
 * `node scene.ts CLIENT`: starts the whole system with its relays on the veth pair, lets that client call,
 * and prints what it heard and how many sessions are left as JSON.
 */
import { execFile } from 'node:child_process';
import process from 'node:process';
import { promisify } from 'node:util';
import type { Browser } from 'puppeteer-core';
import * as v from 'valibot';
import { placeHeaders } from '../../local/place.ts';
import { startStack } from '../../local/stack.ts';
import { launchChromium } from '../support/chromium.ts';
import { launchFirefox } from '../support/firefox.ts';
import { sessionsOf } from '../support/sessions.ts';
import { until } from '../support/until.ts';
import { callByPage } from './browser-call.ts';
import { HeardSchema, OTHER_HZ, TONE_HZ, type Heard } from './heard.ts';
import { MEDIA_ADDRESS } from './namespace.ts';
import { toneFile } from './tone-file.ts';

const FRANKFURT = { colo: 'FRA', latitude: '50.1', longitude: '8.7' };

const CLIENTS: Readonly<Record<string, (edge: string) => Promise<Heard>>> = {
  async chromium(edge) {
    await using microphone = await toneFile(TONE_HZ);
    return await callBy(await launchChromium({ microphoneFile: microphone.path }), edge);
  },
  firefox: async (edge) => callBy(await launchFirefox(TONE_HZ), edge),
  aiortc: (edge) => callByProgram('/usr/bin/python3', [pathOf('aiortc_call.py')], edge),
  pion: (edge) => callByProgram(process.argv[3]!, [], edge),
};

const call = CLIENTS[process.argv[2] ?? ''];
if (!call) throw new Error(`Name one of ${Object.keys(CLIENTS).join(', ')}.`);

const stack = await startStack({ relayAddress: MEDIA_ADDRESS });
try {
  const heard = await call(stack.edge);
  await until(async () => Object.keys(await sessionsOf(stack)).length === 0);
  console.log(JSON.stringify(heard));
} finally {
  await stack.close();
}

async function callBy(browser: Browser, edge: string): Promise<Heard> {
  try {
    return await callByPage(browser, edge);
  } finally {
    await browser.close();
  }
}

/** Each program takes the edge, headers for its POST, and the two frequencies, and prints what it heard. */
async function callByProgram(program: string, args: string[], edge: string): Promise<Heard> {
  const place = JSON.stringify(placeHeaders(FRANKFURT));
  const words = [...args, edge, place, `${TONE_HZ}`, `${OTHER_HZ}`];
  const { stdout } = await promisify(execFile)(program, words);
  return v.parse(HeardSchema, JSON.parse(stdout));
}

function pathOf(file: string): string {
  return new URL(file, import.meta.url).pathname;
}
