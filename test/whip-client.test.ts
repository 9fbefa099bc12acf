/** A WHIP client from npm, unmodified, in a page of another origin: it publishes, trickles, restarts ICE and stops. */
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Browser, Page } from 'puppeteer-core';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import * as v from 'valibot';
import { startStack, type Stack } from '../local/stack.ts';
import { DEMO_API_KEY } from '../local/tenants.ts';
import type { SessionDump } from '../origin/transceiver/session-dump.ts';
import { launchChromium } from './support/chromium.ts';
import { serveElsewhere, type Elsewhere } from './support/elsewhere.ts';
import { until } from './support/until.ts';

const CLIENT = fileURLToPath(new URL('../node_modules/whip-whep/whip.js', import.meta.url));

/** RTP packets that show that media arrives: a second of sound. */
const PACKETS = 50;

const PAGE = `<!doctype html><title>Elsewhere</title><script type="module">
import { WHIPClient } from '/whip.js';
globalThis.WHIPClient = WHIPClient;
</script>`;

/** As text, so that no tool rewrites it. */
const publish = (url: string, token: string) => `(async () => {
  const stream = await navigator.mediaDevices.getUserMedia({ audio: true, video: true });
  globalThis.pc = new RTCPeerConnection({ bundlePolicy: 'max-bundle' });
  for (const track of [...stream.getAudioTracks(), ...stream.getVideoTracks()]) {
    pc.addTransceiver(track, { direction: 'sendonly' });
  }
  globalThis.client = new WHIPClient();
  await client.publish(pc, ${JSON.stringify(url)}, ${JSON.stringify(token)});
})()`;

let stack: Stack;
let browser: Browser;
let elsewhere: Elsewhere;

beforeAll(async () => {
  const client = await readFile(CLIENT, 'utf8');
  stack = await startStack();
  browser = await launchChromium();
  elsewhere = await serveElsewhere((request, response) => {
    if (request.url === '/whip.js')
      response.setHeader('content-type', 'text/javascript').end(client);
    else response.setHeader('content-type', 'text/html').end(PAGE);
  });
});
afterAll(async () => {
  elsewhere?.close();
  await Promise.all([browser?.close(), stack?.close()]);
});

let page: Page;
let answers: string[];

beforeEach(async () => {
  answers = [];
  page = await browser.newPage();
  page.on('response', (response) => {
    const method = response.request().method();
    if (response.url().startsWith(stack.edge) && method !== 'OPTIONS') {
      answers.push(`${method} ${response.status()}`);
    }
  });
  await page.goto(elsewhere.url);
  await page.waitForFunction('globalThis.WHIPClient !== undefined');
});

async function mintSecret(): Promise<string> {
  const response = await fetch(`${stack.edge}/v1/realtime/client_secrets`, {
    method: 'POST',
    headers: { authorization: `Bearer ${DEMO_API_KEY}` },
  });
  const { value } = v.parse(v.object({ value: v.string() }), await response.json());
  return value;
}

async function sessions(): Promise<SessionDump[]> {
  const dumps = await Promise.all([...stack.regions.values()].map((region) => region.dump()));
  return dumps.flatMap((dump) => Object.values(dump)).flatMap((it) => it.sessions);
}

const rtpIn = async () => (await sessions())[0]?.counters.rtpIn ?? 0;

/** It closes its connection before it asks for the end; the session may be over by that. */
async function stop(): Promise<void> {
  await page.evaluate('client.stop()');
  await until(async () => (await sessions()).length === 0);
  expect(await until(() => answers.find((answer) => answer.startsWith('DELETE')))).toMatch(
    /^DELETE (?:200|404)$/,
  );
}

async function untilPublished(): Promise<void> {
  const before = await rtpIn();
  await until(async () => (await rtpIn()) > before + PACKETS);
}

test('it publishes with a client secret, tells its candidates, and stops', async () => {
  await page.evaluate(publish(`${stack.edge}/whip`, await mintSecret()));
  await untilPublished();
  expect(await sessions()).toMatchObject([{ tenant: 'demo', counters: { rtpOut: 0 } }]);
  await until(() => answers.includes('PATCH 204'));

  await stop();
  expect(answers[0]).toBe('POST 201');
  expect(new Set(answers.slice(1, -1))).toEqual(new Set(['PATCH 204']));
});

test('it restarts ICE, and what it publishes goes on', async () => {
  // It joins candidates of a restart by commas, so it takes one alone.
  await stack.steer({
    ...stack.steering,
    clusters: stack.steering.clusters.map((cluster) => ({
      ...cluster,
      relays: cluster.relays.filter(({ transport }) => transport === 'udp'),
    })),
  });
  await until(async () => {
    const where = await fetch(`${stack.edge}/v1/where`);
    return !(await where.text()).includes('"tcp"');
  });
  await page.evaluate(publish(`${stack.edge}/whip`, await mintSecret()));
  await untilPublished();
  await until(() => answers.includes('PATCH 204'));
  const used = `(async () => {
    const stats = await pc.getStats();
    const transport = [...stats.values()].find(({ type }) => type === 'transport');
    return stats.get(transport?.selectedCandidatePairId)?.remoteCandidateId;
  })()`;
  const before = await page.evaluate(used);

  await page.evaluate('client.restart()');
  expect(answers).toContain('PATCH 200');
  await until(async () => {
    const now = await page.evaluate(used);
    return now !== undefined && now !== before;
  });
  await untilPublished();
  expect(await page.evaluate('pc.connectionState')).toBe('connected');
  expect(await sessions()).toHaveLength(1);
  await stop();
  const changes = answers.filter((answer) => answer.startsWith('PATCH'));
  expect(new Set(changes)).toEqual(new Set(['PATCH 204', 'PATCH 200']));
});
