/** The code of docs/clients.md, as it stands there, calls from a page of another origin in real Chromium. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Browser, Page } from 'puppeteer-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import * as v from 'valibot';
import { startStack, type Stack } from '../local/stack.ts';
import { DEMO_API_KEY } from '../local/tenants.ts';
import { launchChromium } from './support/chromium.ts';
import { serveElsewhere, type Elsewhere } from './support/elsewhere.ts';
import { sessionsOf } from './support/sessions.ts';
import { until } from './support/until.ts';

const ROOT = join(import.meta.dirname, '..');

/** The edge that the guide names. */
const EDGE = /https:\/\/voice\.example\.com/g;

/** RTP packets that show that media flows: a second of sound. */
const PACKETS = 50;

/** The headings of the guide with code below them, and the modules that it makes. */
const MODULES: Readonly<Record<string, string>> = {
  '/browser.js': 'In a browser',
  '/agents.js': 'OpenAI Agents SDK',
  '/whip.js': 'WHIP',
};

/** Packages as they come from npm; that of OpenAI makes a global. */
const AGENTS = 'node_modules/@openai/agents-realtime/dist/bundle/openai-realtime-agents.umd.js';
const WHIP_CLIENT = 'node_modules/whip-whep/whip.js';

const PAGE = `<!doctype html><title>Elsewhere</title>
<script type="importmap">${JSON.stringify({
  imports: { '@openai/agents-realtime': '/agents-sdk.js', 'whip-whep/whip.js': '/whip-client.js' },
})}</script>
<script src="/agents-umd.js"></script>`;

const AGENTS_MODULE = `
export const { OpenAIRealtimeWebRTC, RealtimeAgent, RealtimeSession } = OpenAIAgentsRealtime;`;

let stack: Stack;
let browser: Browser;
let elsewhere: Elsewhere;
let secret: string;
let page: Page;

beforeAll(async () => {
  stack = await startStack({ backend: 'parrot' });
  browser = await launchChromium();
  const guide = await readFile(join(ROOT, 'docs/clients.md'), 'utf8');
  const scripts: Record<string, string> = {
    '/agents-umd.js': await readFile(join(ROOT, AGENTS), 'utf8'),
    '/agents-sdk.js': AGENTS_MODULE,
    '/whip-client.js': await readFile(join(ROOT, WHIP_CLIENT), 'utf8'),
  };
  for (const [path, heading] of Object.entries(MODULES)) {
    scripts[path] = codeUnder(guide, heading).replace(EDGE, stack.edge);
  }
  elsewhere = await serveElsewhere(({ url }, response) => {
    const script = scripts[url ?? ''];
    if (script === undefined) response.setHeader('content-type', 'text/html').end(PAGE);
    else response.setHeader('content-type', 'text/javascript').end(script);
  });
  secret = await mintSecret();
});
afterAll(async () => {
  elsewhere?.close();
  await Promise.all([browser?.close(), stack?.close()]);
});

beforeEach(async () => {
  page = await browser.newPage();
  await page.goto(elsewhere.url);
});

afterEach(() => page.close());

test('all code of the guide is run here', async () => {
  const guide = await readFile(join(ROOT, 'docs/clients.md'), 'utf8');
  const modules = Object.values(MODULES).map((heading) => codeUnder(guide, heading));
  expect(modules.join('\n')).toBe(blocksOf(guide).join('\n'));
});

test('a page calls, speaks, is answered, and hangs up', async () => {
  await run(`globalThis.client = await import('/browser.js');
    globalThis.call = await client.startCall(${JSON.stringify(secret)});
    globalThis.heard = [];
    call.events.onmessage = ({ data }) => heard.push(JSON.parse(data).type);`);
  await until(async () => v.parse(Types, await page.evaluate('heard')).includes(SPEECH));
  expect(await page.evaluate('call.peer.connectionState')).toBe('connected');

  const packets = await received();
  await until(async () => (await received()) > packets + PACKETS);

  await run(`await client.hangUp(call, ${JSON.stringify(secret)})`);
  await until(async () => Object.keys(await sessionsOf(stack)).length === 0);
});

test('the Agents SDK calls', async () => {
  await run(`const client = await import('/agents.js');
    globalThis.session = await client.startSession(${JSON.stringify(secret)});`);
  expect(await page.evaluate('session.transport.status')).toBe('connected');
  await run('session.close()');
  await until(async () => Object.keys(await sessionsOf(stack)).length === 0);
});

test('a WHIP client publishes', async () => {
  await run(`const client = await import('/whip.js');
    globalThis.publisher = await client.publish(${JSON.stringify(secret)});`);
  await until(async () => Object.keys(await sessionsOf(stack)).length === 1);
  expect(await page.evaluate('publisher.pc.connectionState')).toMatch(/^connect/);
  await run('publisher.stop()');
  await until(async () => Object.keys(await sessionsOf(stack)).length === 0);
});

const SPEECH = 'input_audio_buffer.speech_started';
const Types = v.array(v.string());

/** As text, so that no tool rewrites it. */
async function run(code: string): Promise<void> {
  await page.evaluate(`(async () => { ${code} })()`);
}

const STATS = `call.peer.getStats().then((stats) => [...stats.values()])`;

async function received(): Promise<number> {
  const count = await page.evaluate(
    `${STATS}.then((all) => all.find(({ type }) => type === 'inbound-rtp').packetsReceived)`,
  );
  return Number(count);
}

/** Blocks of JavaScript up to the next heading of that level. */
function codeUnder(guide: string, heading: string): string {
  const section = new RegExp(`^## ${heading}\\n(.*?)(?=^## |(?![\\s\\S]))`, 'ms').exec(guide)![1]!;
  return blocksOf(section).join('\n');
}

function blocksOf(text: string): string[] {
  return [...text.matchAll(/^```js\n(.*?)^```/gms)].map(([, block]) => block!);
}

/** As a tenant's server does for each of its clients. */
async function mintSecret(): Promise<string> {
  const response = await fetch(`${stack.edge}/v1/realtime/client_secrets`, {
    method: 'POST',
    headers: { authorization: `Bearer ${DEMO_API_KEY}` },
  });
  const { value } = v.parse(v.object({ value: v.string() }), await response.json());
  return value;
}
