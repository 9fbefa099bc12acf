/** OpenAI's own client for browsers, unmodified, on a page of another origin: only its URL is ours. */
import { fileURLToPath } from 'node:url';
import type { Browser, Page } from 'puppeteer-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import * as v from 'valibot';
import { startStack, type Stack } from '../local/stack.ts';
import { DEMO_API_KEY } from '../local/tenants.ts';
import { launchChromium } from './support/chromium.ts';
import { serveElsewhere, type Elsewhere } from './support/elsewhere.ts';
import { sessionsOf } from './support/sessions.ts';
import { until } from './support/until.ts';

const BUNDLE = '../node_modules/@openai/agents-realtime/dist/bundle/openai-realtime-agents.umd.js';
const CLIENT = fileURLToPath(new URL(BUNDLE, import.meta.url));

/** Of the parrot, once it has been spoken to and has spoken. */
const EVENTS = [
  'session.created',
  'session.updated',
  'input_audio_buffer.speech_started',
  'input_audio_buffer.speech_stopped',
  'response.created',
  'response.done',
];

/** As text, so that no tool rewrites it. */
const connect = (url: string, secret: string) => `(async () => {
  const { RealtimeAgent, RealtimeSession, OpenAIRealtimeWebRTC } = OpenAIAgentsRealtime;
  globalThis.events = [];
  globalThis.transport = new OpenAIRealtimeWebRTC({ baseUrl: ${JSON.stringify(url)} });
  transport.on('*', ({ type }) => events.push(type));
  const agent = new RealtimeAgent({ name: 'Parrot', instructions: 'Say it back.' });
  globalThis.session = new RealtimeSession(agent, { transport, model: 'parrot' });
  session.on('error', () => undefined);
  await session.connect({ apiKey: ${JSON.stringify(secret)} });
  return transport.callId;
})()`;

/** Sound heard so far; it stands still in silence. */
const ENERGY = `(async () => {
  const stats = await transport.connectionState.peerConnection.getStats();
  const inbound = [...stats.values()].find(({ type }) => type === 'inbound-rtp');
  return inbound?.totalAudioEnergy ?? 0;
})()`;

let stack: Stack;
let browser: Browser;
let elsewhere: Elsewhere;

beforeAll(async () => {
  stack = await startStack({ backend: 'parrot' });
  browser = await launchChromium();
  elsewhere = await serveElsewhere((_, response) => {
    response.setHeader('content-type', 'text/html').end('<!doctype html><title>Elsewhere</title>');
  });
});

afterAll(async () => {
  elsewhere?.close();
  await Promise.all([browser?.close(), stack?.close()]);
});

async function openPage(): Promise<Page> {
  const page = await browser.newPage();
  await page.goto(elsewhere.url);
  await page.addScriptTag({ path: CLIENT });
  return page;
}

test('it talks to the parrot, is configured, and hangs up', async () => {
  const page = await openPage();
  const secret = await mintSecret();
  const callId = await page.evaluate(connect(`${stack.edge}/v1/realtime/calls`, secret));
  expect(callId).toMatch(/^rtc_[\w-]{65,}$/);
  expect(await sumOfSessions()).toBe(1);

  await until(async () => {
    const events = new Set(v.parse(v.array(v.string()), await page.evaluate('events')));
    return EVENTS.every((event) => events.has(event));
  });
  const before = Number(await page.evaluate(ENERGY));
  await until(async () => Number(await page.evaluate(ENERGY)) > before);
  expect(await page.evaluate('transport.status')).toBe('connected');

  const hangup = `${stack.edge}/v1/realtime/calls/${String(callId)}/hangup`;
  const init = `{ method: 'POST', headers: { authorization: 'Bearer ${secret}' } }`;
  expect(await page.evaluate(`fetch('${hangup}', ${init}).then((it) => it.status)`)).toBe(200);
  await until(async () => (await sumOfSessions()) === 0);
  await page.close();
});

test('it shows what the edge has against a call', async () => {
  const page = await openPage();
  const reason = await page.evaluate(
    `${connect(`${stack.edge}/v1/realtime/calls`, 'ek_of_nobody')}.catch((error) => error.message)`,
  );
  expect(reason).toMatch(/status 401: The request does not show who it is from/);
  await page.close();
});

/** As a tenant's server does for each of its clients. */
async function mintSecret(): Promise<string> {
  const response = await fetch(`${stack.edge}/v1/realtime/client_secrets`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${DEMO_API_KEY}` },
    body: JSON.stringify({ session: { type: 'realtime', model: 'parrot' } }),
  });
  const { value } = v.parse(v.object({ value: v.string() }), await response.json());
  return value;
}

async function sumOfSessions(): Promise<number> {
  return Object.values(await sessionsOf(stack)).reduce((sum, count) => sum + count, 0);
}
