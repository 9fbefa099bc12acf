/** What is wrong with a request gets the right 4xx by every API, and leaves nothing behind. */
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import * as v from 'valibot';
import { WebSocket } from 'ws';
import { scriptedCall } from '../local/scripted-call.ts';
import { startStack, type Stack } from '../local/stack.ts';
import { DEMO_API_KEY } from '../local/tenants.ts';
import { MAX_OFFER_BYTES } from '../protocol/creation.ts';
import { OFFER } from './support/offers.ts';
import { sessionsOf } from './support/sessions.ts';

const FRANKFURT = { colo: 'FRA', latitude: '50.11', longitude: '8.68', country: 'DE' };
const SDP = 'application/sdp';
const FRAGMENT = 'application/trickle-ice-sdpfrag';

let stack: Stack;

beforeAll(async () => {
  stack = await startStack();
});
afterAll(() => stack?.close());

/** Status, and the problem's name as the API in question tells it. */
type Told = readonly [status: number, name: string];

const Problem = v.object({ type: v.string(), status: v.number() });
const OpenAiError = v.object({ error: v.object({ code: v.string() }) });

const nameOf = ({ type }: { type: string }) => type.replace('urn:global-relay:problem:', '');

async function told(response: Response): Promise<Told> {
  const body: unknown = await response.json().catch(() => undefined);
  if (v.is(Problem, body)) return [response.status, nameOf(body)];
  if (v.is(OpenAiError, body)) return [response.status, body.error.code.replaceAll('_', '-')];
  return [response.status, 'no problem'];
}

const post = async (path: string, type: string, body: string) =>
  told(await fetch(stack.edge + path, { method: 'POST', headers: { 'content-type': type }, body }));

async function postForm(offer: string): Promise<Told> {
  const body = new FormData();
  body.set('sdp', offer);
  return told(await fetch(`${stack.edge}/v1/realtime/calls`, { method: 'POST', body }));
}

async function signal(message: string | Buffer): Promise<Told> {
  const socket = new WebSocket(`${stack.edge.replace('http', 'ws')}/v1/signal`);
  await once(socket, 'open');
  socket.send(message);
  const [data] = await once(socket, 'message');
  socket.terminate();
  const { problem } = v.parse(v.object({ problem: Problem }), JSON.parse(String(data)));
  return [problem.status, nameOf(problem)];
}

/** Every way to place a call. */
const APIS: readonly [string, (offer: string) => Promise<Told>][] = [
  ['POST /v1/calls', (offer) => post('/v1/calls', SDP, offer)],
  ['POST /whip', (offer) => post('/whip', SDP, offer)],
  ['POST /v1/realtime/calls', (offer) => post('/v1/realtime/calls', SDP, offer)],
  ['a form', postForm],
  ['/v1/signal', (sdp) => signal(JSON.stringify({ type: 'offer', sdp }))],
];

const [SESSION_PART = '', AUDIO = ''] = OFFER.split(/^(?=m=)/m);
const without = (pattern: RegExp) => OFFER.replaceAll(pattern, '');
const filled = (line: string) =>
  OFFER + line.repeat(Math.floor((MAX_OFFER_BYTES - OFFER.length) / line.length));

const OFFERS: readonly [string, string, Told][] = [
  ['nothing', '', [400, 'malformed-offer']],
  ['no SDP', 'hello', [400, 'malformed-offer']],
  ['another version', OFFER.replace('v=0', 'v=1'), [400, 'malformed-offer']],
  ['lost line breaks', without(/[\r\n]/g), [400, 'malformed-offer']],
  ['lines that are none', filled('hello\r\n'), [400, 'malformed-offer']],
  ['many m-lines', SESSION_PART + AUDIO.repeat(60), [400, 'malformed-offer']],
  ['very many m-lines', filled('m=audio 9 RTP/AVP 0\r\na=sendonly\r\n'), [400, 'malformed-offer']],
  ['very many lines', filled('a=x\r\n'), [400, 'malformed-offer']],
  ['one mid twice', OFFER + AUDIO, [400, 'malformed-offer']],
  [
    'a mid without end',
    OFFER.replace('a=mid:0', `a=mid:${'0'.repeat(60_000)}`),
    [400, 'malformed-offer'],
  ],
  ['a ufrag without end', OFFER.replaceAll('clnt', 'c'.repeat(30_000)), [400, 'malformed-offer']],
  ['no ufrag', without(/^a=ice-ufrag.*\r\n/gm), [400, 'malformed-offer']],
  ['no fingerprint', without(/^a=fingerprint.*\r\n/gm), [400, 'malformed-offer']],
  [
    'an ICE-lite client',
    OFFER.replace('t=0 0', 't=0 0\r\na=ice-lite'),
    [400, 'unacceptable-offer'],
  ],
  [
    'an old certificate hash',
    OFFER.replaceAll(/sha-256 .*/g, 'sha-1 AB:CD'),
    [400, 'unacceptable-offer'],
  ],
  [
    'video alone',
    OFFER.replace('m=audio', 'm=video').split('m=application')[0]!,
    [400, 'unacceptable-offer'],
  ],
  ['a byte too many', filled('a=x\r\n').padEnd(MAX_OFFER_BYTES + 1, 'x'), [413, 'offer-too-large']],
];

/** Offers of more than one sound, which /whip refuses before a transceiver reads them (RFC 9725 §4.4.2). */
const SOUNDS = new Set(['many m-lines', 'very many m-lines', 'one mid twice']);

describe.each(APIS)('%s refuses an offer', (api, place) => {
  test.each(OFFERS)('of %s', async (name, offer, expected) => {
    const isTooMany = api === 'POST /whip' && SOUNDS.has(name);
    expect(await place(offer)).toEqual(isTooMany ? [400, 'unacceptable-offer'] : expected);
  });
});

test('a huge line costs nothing where it says nothing', async () => {
  const body = OFFER.replace('s=-', `s=${'-'.repeat(60_000)}`);
  const response = await fetch(`${stack.edge}/v1/calls`, {
    method: 'POST',
    headers: { 'content-type': SDP },
    body,
  });
  expect(response.status).toBe(201);
  await response.text();
  const location = response.headers.get('location') ?? '';
  expect((await fetch(stack.edge + location, { method: 'DELETE' })).status).toBe(200);
});

describe('the type of a body', () => {
  test.each(['/v1/calls', '/whip', '/v1/realtime/calls'])('for %s is SDP', async (path) => {
    for (const type of ['application/json', 'text/plain', 'application/sdpx', FRAGMENT]) {
      expect(await post(path, type, OFFER)).toEqual([415, 'unsupported-media-type']);
    }
  });

  test('is no form where that is not asked for', async () => {
    const form = 'multipart/form-data; boundary=b';
    expect(await post('/v1/calls', form, OFFER)).toEqual([415, 'unsupported-media-type']);
    expect(await post('/v1/realtime/calls', form, OFFER)).toEqual([400, 'malformed-request']);
  });
});

test.each<[string, string | Buffer]>([
  ['bad JSON', '{"type":'],
  ['a list', '[{"type":"bye"}]'],
  ['an unknown type', '{"type":"constructor"}'],
  ['bytes', Buffer.from('{"type":"bye"}')],
  ['a message without end', `{"type":"offer","sdp":"${'x'.repeat(200_000)}"}`],
])('/v1/signal refuses %s', async (_, message) => {
  expect(await signal(message)).toEqual([400, 'malformed-request']);
});

/** Ids that were never given out, and one of a call that the public has. */
async function withForeign(check: (id: string, headers: Record<string, string>) => Promise<void>) {
  const response = await fetch(`${stack.edge}/v1/calls`, {
    method: 'POST',
    headers: { 'content-type': SDP },
    body: OFFER,
  });
  await response.text();
  const location = response.headers.get('location') ?? '';
  const mine = { authorization: `Bearer ${DEMO_API_KEY}` };
  for (const id of ['x', 'A'.repeat(86), '%00', location.replace('/v1/calls/', '')]) {
    await check(id, mine);
  }
  expect(Object.values(await sessionsOf(stack))).toEqual([1]);
  expect((await fetch(stack.edge + location, { method: 'DELETE' })).status).toBe(200);
}

describe('a call that is none, or another tenant’s', () => {
  const missing: Told = [404, 'call-not-found'];

  test('is none for PATCH, GET and DELETE', () =>
    withForeign(async (id, headers) => {
      const url = `${stack.edge}/v1/calls/${id}`;
      const patch = { ...headers, 'content-type': FRAGMENT, 'if-match': '*' };
      const body = 'a=ice-ufrag:qYcw\r\na=ice-pwd:9KgWRQkJ4Pj0Zn3v6y6cM3QhL\r\n';
      expect(await told(await fetch(url, { method: 'PATCH', headers: patch, body }))).toEqual(
        missing,
      );
      expect(await told(await fetch(url, { headers }))).toEqual(missing);
      expect(await told(await fetch(url, { method: 'DELETE', headers }))).toEqual(missing);
    }));

  test('is none to hang up', () =>
    withForeign(async (id, headers) => {
      const url = `${stack.edge}/v1/realtime/calls/rtc_${id}/hangup`;
      expect(await told(await fetch(url, { method: 'POST', headers }))).toEqual(missing);
    }));

  test('is none to resume', () =>
    withForeign(async (call, headers) => {
      const socket = new WebSocket(`${stack.edge.replace('http', 'ws')}/v1/signal`, { headers });
      await once(socket, 'open');
      socket.send(JSON.stringify({ type: 'resume', call }));
      const [data] = await once(socket, 'message');
      socket.terminate();
      expect(JSON.parse(String(data))).toMatchObject({ problem: { status: 404 } });
    }));
});

test('after all that, nothing is left, and a call goes through', async () => {
  expect(await sessionsOf(stack)).toEqual({});
  const { path } = await scriptedCall({ edge: stack.edge, place: FRANKFURT });
  expect(path.cluster).toBe('eu-central-1');
});
