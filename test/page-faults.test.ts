/** The page's buttons in Chromium, with the test tone: each breaks something, and the sound comes back. */
import type { Browser } from 'puppeteer-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startStack, type Stack } from '../local/stack.ts';
import { launchChromium } from './support/chromium.ts';
import { breakCall } from './support/page-faults.ts';
import { sessionsOf } from './support/sessions.ts';
import { TalkPage } from './support/talk-page.ts';
import { until } from './support/until.ts';

let stack: Stack;
let browser: Browser;

beforeAll(async () => {
  stack = await startStack({ backend: 'parrot', control: true });
  browser = await launchChromium();
});

afterAll(async () => {
  await Promise.all([browser?.close(), stack?.close()]);
});

// Chromium stays with its old pair at times when it is to switch to TCP; test/tcp.test.ts has its calls by TCP alone.
test('the sound survives a killed relay, a drain and a restart of ICE', async () => {
  const { log, complaints, map } = await breakCall(browser, {
    edge: stack.edge,
    source: 'tone',
    switches: [],
  });
  expect(map[0]).toContain(
    'Media flows from Frankfurt to the relay in eu-central-1, to transceiver',
  );
  expect(map[1]).toContain('to the relay in us-east-1 and over the trunk to eu-central-1');
  const told = log.join('\n');
  expect(told).toMatch(/process \d+ is dead; \d+ took its place after/);
  expect(told).toMatch(/The sound was gone for [\d.]+ m?s, and is back\./);
  expect(told).toMatch(/Killing the relay in eu-central-1 .* longest gap since [\d.]+ m?s/);
  expect(told).toContain('A call from Frankfurt goes to us-east-1');
  expect(complaints).toEqual([]);
  await until(async () => Object.keys(await sessionsOf(stack)).length === 0);
});

test('with the microphone, how long the answer took is told', async () => {
  const page = await TalkPage.open(browser, stack.edge);
  await page.callFrom('Tokyo');
  await page.untilLive();
  // The fake microphone beeps each second, which is pause enough for an answer.
  await until(async () => /^\d/.test(await page.text('#answer')));
  expect(await page.text('#connected')).toMatch(/^[\d.]+ m?s$/);
  await page.pressTalk();
  await page.page.close();
});
