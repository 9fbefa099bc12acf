/** A relay that loses all it knew in the middle of a call: the call goes on by itself. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { scriptedCall } from '../local/scripted-call.ts';
import { startStack, type RegionHandle, type Stack } from '../local/stack.ts';
import { launchChromium } from './support/chromium.ts';
import { sessionsOf } from './support/sessions.ts';
import { TalkPage } from './support/talk-page.ts';
import { until } from './support/until.ts';

/** RTP packets that must pass each way: one second. */
const PACKETS = 50;

let stack: Stack;
let region: RegionHandle;

beforeAll(async () => {
  stack = await startStack();
  region = stack.regions.get('eu-central-1')!;
});

afterAll(() => stack?.close());

test('Chromium is heard again after the restart, on the same connection', async () => {
  const browser = await launchChromium();
  try {
    const page = await TalkPage.open(browser, stack.edge);
    await page.callFrom('Frankfurt');
    await page.untilLive();
    await page.untilHeard(PACKETS);

    await region.restartRelay();
    await until(lostFlowsShow);
    await page.untilHeard(PACKETS);
    expect(await page.echoText('still there')).toBe(true);
    expect(await page.state()).toBe('live');
    expect(await sessionsOf(stack)).toEqual({ [region.name]: 1 });
    expect(page.complaints).toEqual([]);
  } finally {
    await browser.close();
  }
});

test('libwebrtc hears its tone again after the restart, on the same connection', async () => {
  const place = { colo: 'FRA', latitude: '50.11', longitude: '8.68', country: 'DE' };
  const result = await scriptedCall({
    edge: stack.edge,
    place,
    during: async (call) => {
      await region.restartRelay();
      await until(lostFlowsShow);
      const before = await call.packetsReceived();
      call.forgetSound();
      await call.hearTone();
      expect(await call.packetsReceived()).toBeGreaterThan(before);
      await call.echo('still there');
      expect(call.connectionState).toBe('connected');
    },
  });
  expect(result.path.ingress).toBe(region.name);
});

/** Media that finds no flow any more: the relay really forgot, and counts from nothing. */
async function lostFlowsShow(): Promise<boolean> {
  const { drops } = await region.relayCounters();
  return drops['no-flow'] > 0;
}
