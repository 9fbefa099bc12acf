/** A call whose media enters at the nearest region while its session lives in another. */
import type { Browser } from 'puppeteer-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { candidateOf } from '../local/region-handle.ts';
import { startStack, type Stack } from '../local/stack.ts';
import { launchChromium } from './support/chromium.ts';
import { sessionsOf } from './support/sessions.ts';
import { TalkPage } from './support/talk-page.ts';

const INGRESS = 'eu-central-1';
const HOME = 'us-east-1';

/** RTP packets that must pass each way: one second. */
const PACKETS = 50;

let stack: Stack;
let browser: Browser;

beforeAll(async () => {
  const transceivers = { [INGRESS]: 0 };
  stack = await startStack({ transceivers });
  browser = await launchChromium();
});

afterAll(async () => {
  await Promise.all([browser?.close(), stack?.close()]);
});

test('Frankfurt has no transceiver: the call enters there and lives in us-east-1', async () => {
  const page = await TalkPage.open(browser, stack.edge);
  await page.callFrom('Frankfurt');
  await page.untilLive();

  expect(await page.path()).toMatchObject({ colo: 'FRA', cluster: HOME, ingress: INGRESS });
  const relays = [INGRESS, HOME].flatMap((name) => stack.regions.get(name)!.relays);
  expect(await page.candidates()).toEqual(relays.map(candidateOf));
  expect(await sessionsOf(stack)).toEqual({ [HOME]: 1 });

  const before = await counters();
  await page.untilHeard(PACKETS);
  expect(await page.echoText('across the trunk')).toBe(true);
  expect(await page.echoBytes(100_000)).toBe(true);
  const after = await counters();
  const grown = (relay: 'ingress' | 'home', traffic: 'fromClients' | 'toClients' | 'fromTrunk') =>
    after[relay][traffic].packets - before[relay][traffic].packets;
  expect(grown('ingress', 'fromClients')).toBeGreaterThanOrEqual(PACKETS);
  expect(grown('ingress', 'toClients')).toBeGreaterThanOrEqual(PACKETS);
  // Up and down alike pass the home region's relay, to which the client itself sends checks at most.
  expect(grown('home', 'fromTrunk')).toBeGreaterThanOrEqual(2 * PACKETS);
  expect(grown('home', 'fromClients')).toBeLessThan(PACKETS / 5);
  expect(grown('home', 'toClients')).toBeLessThan(PACKETS / 5);
  expect(await page.text('#path')).toContain('reached over the trunk');
});

async function counters() {
  const [ingress, home] = [stack.regions.get(INGRESS)!, stack.regions.get(HOME)!];
  return { ingress: await ingress.relayCounters(), home: await home.relayCounters() };
}
