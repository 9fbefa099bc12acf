/** Calls from a real browser by the page's own button, from places near each cluster. */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
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
  const candidates = relays.map(candidateOf);
  expect(await page.candidates()).toEqual(candidates);
  expect(await sessionsOf(stack)).toEqual({ [region]: 1 });

  await page.untilHeard(PACKETS);
  expect(await page.echoText('¿se oye? – yes')).toBe(true);
  expect(await page.echoBytes(100_000)).toBe(true);

  await until(async () => (await page.text('#data')).includes('came back the same'));
  const shown = await page.page.$$eval('#stages > li', (items) =>
    items.map((item) => ({ stage: item.getAttribute('data-stage'), text: item.textContent })),
  );
  expect(shown.map(({ stage }) => stage)).toEqual(expect.arrayContaining(STAGES));
  for (const { text } of shown) expect(text).toMatch(/[a-z].*\d m?s$/);
  expect(shown.length).toBeGreaterThan(STAGES.length); // the edge's own split
  const { transceiver } = await page.path();
  expect(await page.items('#path-signaling')).toEqual([
    'You',
    `edge colo ${colo}`,
    `cluster ${region} its transceiver ${transceiver}`,
  ]);
  expect(await page.items('#path-media')).toEqual([
    'You',
    `relay in ${region} ${candidates[0]}`,
    `transceiver ${transceiver} in cluster ${region}`,
  ]);
  expect(await page.text('#connected')).toMatch(/^[\d.]+ m?s$/);
  expect(await page.text('#where')).toMatch(
    new RegExp(`^A call from ${place} goes to ${region}, \\d+ km away: nearest to ${place}\\.$`),
  );

  await page.pressTalk();
  expect(await page.state()).toBe('ended');
  await until(async () => Object.keys(await sessionsOf(stack)).length === 0);
  expect(page.complaints).toEqual([]);
  await page.page.close();
});

test('what a call left is titled with its place, and cleared by the next call', async () => {
  const page = await TalkPage.open(browser, stack.edge);
  await page.callFrom('Frankfurt');
  await page.untilLive();
  await page.untilHeard(PACKETS);
  await until(async () => /^\d+$/.test(await page.text('#packets-in')));
  expect(await page.text('#call-title')).toBe('This call, from Frankfurt');
  await page.pressTalk();
  await page.page.select('#place', 'Tokyo');
  expect(await page.text('#call-title')).toBe('Last call, from Frankfurt');
  expect((await page.items('#path-media')).join()).toContain('eu-central-1');

  // Pressed and read in one go, before anything of the new call can be there.
  const shown = await page.page.$$eval(
    '#talk, #call-title, #path-media, #connected, #rtt-now, #stages, #packets-in',
    ([talk, ...others]) => {
      talk!.dispatchEvent(new Event('click'));
      return others.map((element) => element.textContent);
    },
  );
  expect(shown).toEqual(['This call, from Tokyo', '', '–', '–', '', '–']);
  await page.page.close();
  await until(async () => Object.keys(await sessionsOf(stack)).length === 0);
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

test('when no relay answers, the page names it and says what to do', async () => {
  const silent = createSocket('udp4').bind(0, '127.0.0.1');
  await once(silent, 'listening');
  const relay = { address: '127.0.0.1', port: silent.address().port, transport: 'udp' } as const;
  const { steering } = stack;
  const clusters = steering.clusters.map((cluster) => ({ ...cluster, relays: [relay] }));
  await stack.steer({ ...steering, clusters });
  await until(async () => {
    const where = await (await fetch(`${stack.edge}/v1/where`)).text();
    return where.includes(`"port":${relay.port}`);
  });

  const page = await TalkPage.open(browser, stack.edge);
  await page.callFrom('Frankfurt');
  const told = await until(async () => {
    const status = await page.text('#status');
    return /No relay|failed/.test(status) && status;
  });
  expect(told).toContain('No relay has answered yet');
  await until(async () => (await page.state()) === 'failed');
  const error = await page.text('#error');
  expect(error).toContain(`No relay answers at 127.0.0.1:${relay.port}/udp`);
  expect(error).toContain('see in the terminal of npm start');
  await page.page.close();
  silent.close();
});
