/** Calls from a real browser by the page's own button, from places near each cluster. */
import type { Browser } from 'puppeteer-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { candidateOf } from '../local/region-handle.ts';
import { startStack, type Stack } from '../local/stack.ts';
import { launchChromium } from './support/chromium.ts';
import { sessionsOf } from './support/sessions.ts';
import { TalkPage } from './support/talk-page.ts';
import { until } from './support/until.ts';

/** RTP packets that must pass each way: two seconds of 20 ms frames, two beeps of the fake microphone. */
const PACKETS = 100;

const STAGES = ['microphone', 'offer', 'edge', 'ice', 'dtls', 'data', 'audio'];

let stack: Stack;
let browser: Browser;

beforeAll(async () => {
  stack = await startStack();
  browser = await launchChromium();
});

afterAll(async () => {
  await Promise.all([browser?.close(), stack?.close()]);
});

test.each([
  { place: 'Frankfurt', colo: 'FRA', region: 'eu-central-1' },
  { place: 'New York', colo: 'EWR', region: 'us-east-1' },
  { place: 'Tokyo', colo: 'NRT', region: 'ap-northeast-1' },
])('a call from $place goes through $region both ways', async ({ place, colo, region }) => {
  const page = await TalkPage.open(browser, stack.edge);
  await page.callFrom(place);
  await page.untilLive();

  expect(await page.path()).toMatchObject({ colo, cluster: region, ingress: region });
  const { relays } = stack.regions.get(region)!;
  expect(await page.candidates()).toEqual(relays.map(candidateOf));
  expect(await sessionsOf(stack)).toEqual({ [region]: 1 });

  await page.untilHeard(PACKETS);
  expect(await page.echoText('¿se oye? – yes')).toBe(true);
  expect(await page.echoBytes(100_000)).toBe(true);

  await until(async () => (await page.text('#data')).includes('came back the same'));
  const shown = await page.page.$$eval('#stages > li', (items) =>
    items.map((item) => ({ stage: item.getAttribute('data-stage'), text: item.textContent })),
  );
  expect(shown.map(({ stage }) => stage)).toEqual(expect.arrayContaining(STAGES));
  for (const { text } of shown) expect(text).toMatch(/\d ms$/);
  expect(shown.length).toBeGreaterThan(STAGES.length); // the edge's own split
  expect(await page.text('#path')).toContain(region);

  await page.pressTalk();
  expect(await page.state()).toBe('ended');
  await until(async () => Object.keys(await sessionsOf(stack)).length === 0);
  expect(page.complaints).toEqual([]);
  await page.page.close();
});

test('leaving the page ends its session', async () => {
  const page = await TalkPage.open(browser, stack.edge);
  await page.callFrom('London');
  await page.untilLive();
  expect(await sessionsOf(stack)).toEqual({ 'eu-central-1': 1 });
  await page.page.goto('about:blank');
  await until(async () => Object.keys(await sessionsOf(stack)).length === 0);
  await page.page.close();
});
