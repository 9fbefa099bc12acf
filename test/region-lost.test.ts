/** Regions that are killed without a goodbye: their calls go on, and new ones start, by another. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { candidateOf } from '../local/region-handle.ts';
import { scriptedCall } from '../local/scripted-call.ts';
import { startStack, type Stack } from '../local/stack.ts';
import { launchChromium } from './support/chromium.ts';
import { TalkPage } from './support/talk-page.ts';
import { until } from './support/until.ts';

const HOME = 'us-east-1';

/** Has a relay alone, so that its calls live in {@link HOME}. */
const RELAY_ONLY = 'eu-central-1';

/** Has transceivers, which die with it. */
const WHOLE = 'ap-northeast-1';
const TOKYO = { colo: 'NRT', latitude: '35.68', longitude: '139.69', country: 'JP' };

/** RTP packets that must pass each way: one second. */
const PACKETS = 50;

let stack: Stack;

beforeAll(async () => {
  stack = await startStack({ transceivers: { [RELAY_ONLY]: 0 } });
});

afterAll(() => stack?.close());

test('a call in Chromium goes by its ingress once that answers, and without it once it dies', async () => {
  const browser = await launchChromium();
  try {
    const ingress = stack.regions.get(RELAY_ONLY)!;
    // Hung at first, or Chromium would check no other way and, seconds later, know no other.
    process.kill(ingress.pid, 'SIGSTOP');
    const page = await TalkPage.open(browser, stack.edge);
    await page.callFrom('Frankfurt');
    await until(async () => (await countersOf(HOME)).flows.proven > 0);
    process.kill(ingress.pid, 'SIGCONT');
    await page.untilLive();
    expect(await page.path()).toMatchObject({ cluster: HOME, ingress: RELAY_ONLY });
    await untilCarried(RELAY_ONLY);

    await kill(RELAY_ONLY);
    await untilCarried(HOME);
    await page.untilHeard(PACKETS);
    expect(await page.echoText('still there')).toBe(true);
    expect(await page.state()).toBe('live');
  } finally {
    await browser.close();
  }
});

test('a new call from the place of a dead region starts, and is heard', async () => {
  await kill(WHOLE);
  const { path, candidates } = await scriptedCall({ edge: stack.edge, place: TOKYO });
  expect(path).toMatchObject({ cluster: HOME, ingress: WHOLE });
  const relays = [WHOLE, HOME].flatMap((name) => stack.regions.get(name)!.relays);
  expect(candidates).toEqual(relays.map(candidateOf));

  const where = await until(async () => {
    const response = await fetch(`${stack.edge}/v1/where`, {
      headers: { 'MF-CF-Blob': JSON.stringify(TOKYO) },
    });
    const { region, reason }: { region: string; reason: string } = JSON.parse(
      await response.text(),
    );
    return region !== WHOLE && reason;
  });
  expect(where).toContain(`${WHOLE} comes first`);
  expect(where).toMatch(/no transceiver of it answers now|it failed a call a moment ago/);
});

const countersOf = (name: string) => stack.regions.get(name)!.relayCounters();

/** Waits until so many packets went each way between clients and that region's relay that they are media. */
async function untilCarried(name: string): Promise<void> {
  const before = await countersOf(name);
  await until(async () => {
    const now = await countersOf(name);
    return (['fromClients', 'toClients'] as const).every(
      (way) => now[way].packets >= before[way].packets + PACKETS,
    );
  });
}

async function kill(name: string): Promise<void> {
  const region = stack.regions.get(name)!;
  process.kill(region.pid, 'SIGKILL');
  await until(() =>
    region.relayCounters().then(
      () => false,
      () => true,
    ),
  );
}
