/** Calls of clients that cannot use UDP, over ICE-TCP (RFC 6544). */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { placeHeaders } from '../local/place.ts';
import { candidateOf } from '../local/region-handle.ts';
import { scriptedCall } from '../local/scripted-call.ts';
import { startStack, type RegionHandle, type Stack } from '../local/stack.ts';
import type { TrunkAddress } from '../protocol/footprint.ts';
import type { RelayAddress } from '../protocol/signature.ts';
import { launchChromium } from './support/chromium.ts';
import { sessionsOf } from './support/sessions.ts';
import { TalkPage } from './support/talk-page.ts';
import { TcpPipe } from './support/tcp-pipe.ts';
import { UdpClient } from './support/udp-client.ts';
import { until } from './support/until.ts';

/** RTP packets that must pass each way: two seconds of 20 ms frames, two beeps of the fake microphone. */
const PACKETS = 100;

const FRANKFURT = { colo: 'FRA', latitude: '50.11', longitude: '8.68', country: 'DE' };

let stack: Stack;
let region: RegionHandle;
let tcpRelay: RelayAddress;

beforeAll(async () => {
  stack = await startStack();
  region = stack.regions.get('eu-central-1')!;
  tcpRelay = region.relays.find(({ transport }) => transport === 'tcp')!;
});

afterAll(() => stack?.close());

test('Chromium that may use no UDP calls over TCP', async () => {
  await using browser = await launchChromium({ udp: false });
  const page = await TalkPage.open(browser, stack.edge);
  await page.callFrom('Frankfurt');
  await page.untilLive();

  await page.untilHeard(PACKETS);
  expect(await page.echoText('¿se oye? – yes')).toBe(true);
  expect(await page.echoBytes(100_000)).toBe(true);

  expect(await page.candidates()).toEqual(region.relays.map(candidateOf));
  expect((await page.stats()).relay).toBe(candidateOf(tcpRelay));
  const { flows, tcp } = await region.relayCounters();
  expect(tcp).toMatchObject({ open: 1, accepted: 1 });
  // Not one check came by UDP: it would have made a flow of its own.
  expect(flows).toEqual({ tentative: 0, proven: 1 });

  await page.pressTalk();
  await until(async () => Object.keys(await sessionsOf(stack)).length === 0);
  await until(async () => (await region.relayCounters()).tcp.open === 0);
  expect(page.complaints).toEqual([]);
});

test('a connection that breaks is made anew, and the call goes on', async () => {
  await using pipe = await TcpPipe.open(tcpRelay);
  await offerRelays('tcp', pipe.address);
  await using browser = await launchChromium({ udp: false });
  const page = await TalkPage.open(browser, stack.edge);
  await page.callFrom('Frankfurt');
  await page.untilLive();
  await page.untilHeard(PACKETS);
  const { accepted } = (await region.relayCounters()).tcp;

  pipe.break();

  await until(async () => (await region.relayCounters()).tcp.accepted > accepted);
  await page.untilHeard(PACKETS);
  expect(await page.echoBytes(100_000)).toBe(true);
  expect(await page.state()).toBe('live');
  expect(await sessionsOf(stack)).toEqual({ [region.name]: 1 });
});

test('where a network swallows UDP, libwebrtc and Chromium find their way over TCP', async () => {
  await using nowhere = await UdpClient.open();
  await offerRelays('udp', nowhere.address);
  const { accepted } = (await region.relayCounters()).tcp;

  await scriptedCall({ edge: stack.edge, place: FRANKFURT });

  await using browser = await launchChromium();
  const page = await TalkPage.open(browser, stack.edge);
  await page.callFrom('Frankfurt');
  await page.untilLive();
  await page.untilHeard(PACKETS);
  expect(await page.echoBytes(100_000)).toBe(true);
  expect((await page.stats()).relay).toBe(candidateOf(tcpRelay));

  expect((await region.relayCounters()).tcp.accepted).toBeGreaterThanOrEqual(accepted + 2);
  // They did try UDP.
  expect(nowhere.received.length).toBeGreaterThan(0);
});

/** Puts another address in the place of the region's relays of that transport, for all who call. */
async function offerRelays(
  transport: RelayAddress['transport'],
  { address, port }: TrunkAddress,
): Promise<void> {
  const instead = { address, port, transport };
  const relays = region.relays.map((relay) => (relay.transport === transport ? instead : relay));
  const clusters = stack.steering.clusters.map((cluster) =>
    Object.assign({}, cluster, cluster.region === region.name && { relays }),
  );
  await stack.steer({ version: 1, clusters });
  await until(async () => {
    const url = new URL('/v1/where', stack.edge);
    const response = await fetch(url, { headers: placeHeaders(FRANKFURT) });
    return (await response.text()).includes(`"port":${port},`);
  });
}
