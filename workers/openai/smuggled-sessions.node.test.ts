// What a session may carry past its bounds, by every API that takes one. The origin makes no media.
import { once } from 'node:events';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import * as v from 'valibot';
import { WebSocket } from 'ws';
import { MAX_SESSION_BYTES } from '../../protocol/session-config.ts';
import { hashApiKey } from '../api-keys.ts';
import { OFFER, openCallStage, willing, type CallStage } from '../testing/call-stage.ts';

const KEY = `sk_acme_${'k'.repeat(43)}`;
const SDP = { 'content-type': 'application/sdp' };

let stage: CallStage;

beforeAll(async () => {
  stage = await openCallStage();
  await stage.edge.putTenant('acme', { keys: [hashApiKey(KEY)], callsPerMinute: 6000 });
});
afterAll(() => stage?.close());
beforeEach(() => stage.origin.behave(willing));

/** A client secret of that session, JSON text. */
async function secretOf(session: string): Promise<string> {
  const response = await stage.edge.fetch('/v1/realtime/client_secrets', {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${KEY}` },
    body: `{"session":${session}}`,
  });
  const { value } = v.parse(v.object({ value: v.string() }), await response.json());
  return `Bearer ${value}`;
}

async function post(path: string, authorization: string, body: string, headers: object = SDP) {
  const response = await stage.edge.fetch(path, {
    method: 'POST',
    headers: { ...headers, authorization },
    body,
  });
  await response.text();
  return response.status;
}

const part = (name: string, body: string) =>
  `--b\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${body}\r\n`;

async function postForm(authorization: string, session: string) {
  const body = `${part('sdp', OFFER)}${part('session', session)}--b--\r\n`;
  const headers = { 'content-type': 'multipart/form-data; boundary=b' };
  return post('/v1/realtime/calls', authorization, body, headers);
}

async function offerBySocket(authorization: string): Promise<number> {
  const url = `${stage.edge.url.replace('http', 'ws')}/v1/signal`;
  const socket = new WebSocket(url, { headers: { authorization } });
  await once(socket, 'open');
  socket.send(JSON.stringify({ type: 'offer', sdp: OFFER }));
  const [data] = await once(socket, 'message');
  socket.terminate();
  return String(data).includes('"type":"answer"') ? 201 : 0;
}

/** Every way by which a session comes to a call, each of which places one. */
const WAYS: readonly (readonly [string, (session: string) => Promise<number>])[] = [
  ['a secret at /v1/calls', async (text) => post('/v1/calls', await secretOf(text), OFFER)],
  ['a secret at /whip', async (text) => post('/whip', await secretOf(text), OFFER)],
  [
    'a secret at /v1/realtime/calls',
    async (text) => post('/v1/realtime/calls', await secretOf(text), OFFER),
  ],
  ['a secret at /v1/signal', async (text) => offerBySocket(await secretOf(text))],
  ['a form', (text) => postForm(`Bearer ${KEY}`, text)],
  ['a form over a secret', async (text) => postForm(await secretOf(text), text)],
];

/** The body that the origin got, and what the edge signed of it. */
function created() {
  const { body, claims } = stage.origin.requests[0]!;
  const sent: Record<string, unknown> = JSON.parse(body);
  return { sent, claims };
}

describe.each(WAYS)('by %s', (_, place) => {
  it.each([
    '{"__proto__":{"model":"dear","admin":true}}',
    '{"constructor":{"prototype":{"model":"dear"}}}',
    '{"audio":{"__proto__":{"output":{"voice":"x"}},"input":{"__proto__":{"format":"x"}}}}',
  ])('%s changes the prototype of nothing', async (session) => {
    expect(await place(session)).toBe(201);
    const { sent } = created();
    expect(Object.keys(sent)).toEqual(['offer', 'session']);
    expect(sent['session']).not.toHaveProperty('model');
    expect(sent['session']).not.toHaveProperty('audio.output');
    // Nor for calls to come, in the same isolate.
    stage.origin.behave(willing);
    expect(await post('/v1/calls', `Bearer ${KEY}`, OFFER)).toBe(201);
    expect(stage.origin.requests[0]!.body).toBe(OFFER);
  });

  it('what stands beside the session for the edge alone stays within it', async () => {
    const own = { op: 'end', tenant: 'rival', transceiver: 1, call: 'x', offer: 'v=0', relays: [] };
    expect(await place(JSON.stringify(own))).toBe(201);
    const { sent, claims } = created();
    expect(sent).toEqual({
      offer: expect.stringContaining('a=ice-ufrag:qYcw'),
      session: { type: 'realtime', ...own },
    });
    expect(claims).toMatchObject({ op: 'create', tenant: 'acme', transceiver: 21 });
  });
});

it('instructions that are just not too large arrive whole', async () => {
  const rest = '{"type":"realtime","instructions":""}'.length;
  const instructions = '✓'.repeat(Math.floor((MAX_SESSION_BYTES - rest) / 3));
  expect(await postForm(`Bearer ${KEY}`, JSON.stringify({ instructions }))).toBe(201);
  expect(created().sent['session']).toEqual({ type: 'realtime', instructions });
  expect(
    await postForm(`Bearer ${KEY}`, JSON.stringify({ instructions: `${instructions}✓` })),
  ).toBe(400);
});

it('of a member that stands twice the last one is judged', async () => {
  expect(await postForm(`Bearer ${KEY}`, '{"model":"x","model":{"y":1}}')).toBe(400);
  expect(await postForm(`Bearer ${KEY}`, '{"type":"realtime","type":"transcription"}')).toBe(400);
  expect(stage.origin.requests).toEqual([]);
});
