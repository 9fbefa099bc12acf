/** What the page tells a person when a call cannot be. */
import type { Browser } from 'puppeteer-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startStack, type Stack } from '../local/stack.ts';
import { launchChromium } from './support/chromium.ts';
import { sessionsOf } from './support/sessions.ts';
import { TalkPage } from './support/talk-page.ts';
import { until } from './support/until.ts';

/** Keeps every text of the status line in `statuses`: some are too short-lived to be polled for. */
const RECORD_STATUS = `
  globalThis.statuses = [];
  new MutationObserver((records) => {
    for (const { addedNodes } of records) statuses.push(addedNodes[0]?.textContent);
  }).observe(document.getElementById('status'), { childList: true });
`;

let stack: Stack;
let browser: Browser;

beforeAll(async () => {
  // Without a transceiver anywhere the edge must refuse.
  const none = { 'us-east-1': 0, 'eu-central-1': 0, 'ap-northeast-1': 0 };
  stack = await startStack({ transceivers: none });
  browser = await launchChromium();
});

afterAll(async () => {
  await Promise.all([browser?.close(), stack?.close()]);
});

test('the edge’s own words are shown when it refuses a call', async () => {
  const page = await TalkPage.open(browser, stack.edge);
  await page.callFrom('Frankfurt');
  await until(async () => (await page.state()) === 'failed');
  expect(await page.text('#error')).toContain('No cluster can take a call now');
  expect(await page.text('#error')).toContain('503');
  expect(await page.text('#talk')).toBe('Talk');
  await page.page.close();
});

test('a refused microphone is told, with what to do, and no session is made', async () => {
  const wary = await launchChromium({ microphone: 'deny' });
  try {
    const page = await TalkPage.open(wary, stack.edge);
    await page.page.evaluate(RECORD_STATUS);
    await page.callFrom('Tokyo');
    await until(async () => (await page.state()) === 'failed');
    expect(await page.page.evaluate('statuses')).toEqual([
      'Allow the microphone…',
      'The call failed.',
    ]);
    expect(await page.text('#error')).toMatch(/microphone is blocked.*Allow it/i);
    expect(await sessionsOf(stack)).toEqual({});
    expect(page.complaints).toEqual([]);
  } finally {
    await wary.close();
  }
});
