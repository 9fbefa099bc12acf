/** A call by the talk page of a browser whose microphone is a tone. */
import type { Browser } from 'puppeteer-core';
import { toneShare } from '../../local/tone.ts';
import { TalkPage } from '../support/talk-page.ts';
import { until } from '../support/until.ts';
import { OTHER_HZ, TONE_HZ, type Heard } from './heard.ts';

/** Milliseconds of sound that are recorded and judged at a time. */
const RECORDED = 700;

/** Samples left out where a recorder fades in. */
const LEAD_IN = 9_600;

/** Enough that nothing but the tone is heard; a codec leaves a little else. */
const HEARD = 0.8;

const RATE = 48_000;
const FULL_SCALE = 32_767;

/**
 * As text, so that no tool rewrites it: records what the page plays and gives the samples. A recorder needs
 * no loudspeaker, which an AudioContext waits for.
 */
const RECORD = `(async () => {
  const recorder = new MediaRecorder(document.querySelector('#audio').srcObject);
  const recorded = new Promise((resolve) => {
    recorder.addEventListener('dataavailable', ({ data }) => resolve(data.arrayBuffer()));
  });
  recorder.start();
  setTimeout(() => recorder.stop(), ${RECORDED});
  const decoder = new OfflineAudioContext(1, 1, ${RATE});
  const sound = await decoder.decodeAudioData(await recorded);
  return Array.from(sound.getChannelData(0));
})()`;

/** Calls, waits until the tone is what comes back, and hangs up. */
export async function callByPage(browser: Browser, edge: string): Promise<Heard> {
  const page = await TalkPage.open(browser, edge);
  await page.callFrom('Frankfurt');
  await page.untilLive();
  await until(() => page.page.$eval('#audio', (it) => 'srcObject' in it && it.srcObject !== null));
  const heard = await until(async () => {
    const recorded = await page.page.evaluate<[], () => Promise<number[]>>(RECORD);
    const samples = Int16Array.from(recorded.slice(LEAD_IN), (it) => it * FULL_SCALE);
    const share = toneShare(samples, TONE_HZ, RATE);
    return share > HEARD && { toneShare: share, otherShare: toneShare(samples, OTHER_HZ, RATE) };
  });
  const dataEchoed = await page.echoBytes(20_000);
  await page.pressTalk();
  await page.page.close();
  return { ...heard, dataEchoed };
}
