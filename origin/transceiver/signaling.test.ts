import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { pino } from 'pino';
import * as v from 'valibot';
import { MAX_CREATION_BYTES, MAX_OFFER_BYTES } from '../../protocol/creation.ts';
import { SignatureVerifier, sign, type Forward } from '../../protocol/signature.ts';
import { signalingApp } from './signaling.ts';
import { CHROME } from './testing/offers.ts';
import { openStage, type Stage } from './testing/stage.ts';

const CLUSTER = 3;
const KEY = randomBytes(32);
const Problem = v.object({ type: v.string(), status: v.number() });

let stage: Stage;
let app: ReturnType<typeof signalingApp>;
let logged: { level: number; msg: string }[];
beforeEach(async () => {
  logged = [];
  stage = await openStage({ capacity: 2 });
  app = signalingApp({
    verifier: new SignatureVerifier(KEY, CLUSTER),
    transceivers: new Map([[7, stage.transceiver]]),
    log: pino({ level: 'debug' }, { write: (line) => logged.push(JSON.parse(line)) }),
  });
});
afterEach(() => stage[Symbol.asyncDispose]());

const common = () => ({
  requestId: 'r',
  transceiver: 7,
  call: randomBytes(16).toString('hex'),
  tenant: 'acme',
});

const creation = (changes: object = {}) => ({
  op: 'create' as const,
  ...common(),
  ufrag: randomBytes(23).toString('hex').slice(0, 23),
  expiresAt: Date.now() + 60_000,
  relays: [{ address: '192.0.2.1', port: 3478, transport: 'udp' as const }],
  ...changes,
});

async function post(claims: Forward, offer = CHROME, headers: Record<string, string> = {}) {
  const token = sign(KEY, CLUSTER, claims, offer);
  return app.request('/v1/sessions', {
    method: 'POST',
    body: offer,
    headers: { 'content-type': 'application/sdp', authorization: `Bearer ${token}`, ...headers },
  });
}

async function remove(claims: Forward, call = claims.call) {
  const authorization = `Bearer ${sign(KEY, CLUSTER, claims)}`;
  return app.request(`/v1/sessions/${call}`, { method: 'DELETE', headers: { authorization } });
}

/** Status and name of the problem that a response is; undefined when it is not one. */
async function problemOf(response: Response): Promise<[number, string] | undefined> {
  if (response.headers.get('content-type') !== 'application/problem+json') return undefined;
  const body = v.parse(Problem, await response.json());
  return [body.status, body.type.replace('urn:global-relay:problem:', '')];
}

test('an offer is answered and its call ended', async () => {
  const claims = creation();
  const created = await post(claims);
  expect(created.status).toBe(201);
  expect(created.headers.get('content-type')).toBe('application/sdp');
  expect(created.headers.get('etag')).toMatch(/^"[!#-~]+"$/);
  expect(created.headers.get('server-timing')).toMatch(/^answer;dur=\d+\.\d$/);
  expect(await created.text()).toContain(`a=ice-ufrag:${claims.ufrag}`);
  expect(stage.transceiver.report()).toMatchObject({ sessions: 1, calls: [['acme', 1]] });
  const { requestId, transceiver, call, tenant } = claims;
  // By the edge's id of the request, so that both logs can be read together.
  const line = { msg: 'session created', requestId, call, transceiver };
  expect(logged).toContainEqual(expect.objectContaining(line));
  const end = { op: 'end' as const, requestId, transceiver, call, tenant };
  expect(await problemOf(await remove({ ...end, tenant: 'other' }))).toEqual([
    404,
    'call-not-found',
  ]);
  expect(await problemOf(await remove({ ...end, transceiver: 8 }))).toEqual([
    404,
    'call-not-found',
  ]);
  expect((await remove(end)).status).toBe(200);
  expect(await problemOf(await remove(end))).toEqual([404, 'call-not-found']);
  expect(stage.transceiver.report()).toMatchObject({ sessions: 0, calls: [] });
});

test('what is not signed as it must be is refused', async () => {
  const claims = creation();
  expect(await problemOf(await post(claims, CHROME, { authorization: '' }))).toEqual([
    401,
    'unauthorized',
  ]);
  expect(await problemOf(await post(claims, CHROME, { authorization: 'Bearer x' }))).toEqual([
    401,
    'unauthorized',
  ]);
  const foreign = sign(KEY, CLUSTER + 1, claims, CHROME);
  expect(
    await problemOf(await post(claims, CHROME, { authorization: `Bearer ${foreign}` })),
  ).toEqual([401, 'unauthorized']);
  const another = sign(KEY, CLUSTER, claims, 'another body');
  expect(
    await problemOf(await post(claims, CHROME, { authorization: `Bearer ${another}` })),
  ).toEqual([401, 'unauthorized']);
  expect(await problemOf(await post({ op: 'end', ...common() }))).toEqual([401, 'unauthorized']);
  expect(await problemOf(await remove(creation()))).toEqual([401, 'unauthorized']);
  expect(await problemOf(await remove({ op: 'end', ...common() }, 'f'.repeat(32)))).toEqual([
    401,
    'unauthorized',
  ]);
  expect(stage.transceiver.report().sessions).toBe(0);
});

test('the body of a stranger is not read', async () => {
  let isRead = false;
  const body = new ReadableStream(
    {
      pull: (controller) => {
        isRead = true;
        controller.close();
      },
    },
    { highWaterMark: 0 },
  );
  const headers = { 'content-type': 'application/sdp', authorization: 'Bearer a.b.c' };
  const response = await app.request('/v1/sessions', {
    method: 'POST',
    headers,
    body,
    duplex: 'half',
  });
  expect(await problemOf(response)).toEqual([401, 'unauthorized']);
  expect(isRead).toBe(false);
});

test('a request that is given up halfway is no fault', async () => {
  const server = createServer(getRequestListener(app.fetch)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (typeof address !== 'object' || !address) throw new Error('the server has no port');
  const socket = connect(address.port, '127.0.0.1');
  const token = sign(KEY, CLUSTER, creation(), CHROME);
  const head = [
    'POST /v1/sessions HTTP/1.1',
    'host: origin',
    'content-type: application/sdp',
    `content-length: ${CHROME.length}`,
    `authorization: Bearer ${token}`,
  ];
  socket.write(`${head.join('\r\n')}\r\n\r\nv=0`);
  await once(server, 'request');
  socket.destroy();
  await vi.waitFor(() => expect(logged).toHaveLength(1), { timeout: 15_000 });
  expect(logged[0]).toMatchObject({ level: 20, msg: 'the edge gave a request up' });
  server.close();
});

test('a session that is over already is refused', async () => {
  const response = await post(creation({ expiresAt: Date.now() }));
  expect(await problemOf(response)).toEqual([409, 'conflict']);
  expect(stage.transceiver.report().sessions).toBe(0);
});

test('a token works once', async () => {
  const authorization = `Bearer ${sign(KEY, CLUSTER, creation(), CHROME)}`;
  expect((await post(creation(), CHROME, { authorization })).status).toBe(201);
  expect(await problemOf(await post(creation(), CHROME, { authorization }))).toEqual([
    401,
    'unauthorized',
  ]);
});

test('offers that cannot be answered', async () => {
  expect(await problemOf(await post(creation(), 'hello'))).toEqual([400, 'malformed-offer']);
  const lite = CHROME.replace('t=0 0', 't=0 0\r\na=ice-lite');
  expect(await problemOf(await post(creation(), lite))).toEqual([400, 'unacceptable-offer']);
  expect(await problemOf(await post(creation(), 'x'.repeat(MAX_OFFER_BYTES + 1)))).toEqual([
    413,
    'offer-too-large',
  ]);
  expect(await problemOf(await post(creation(), 'x'.repeat(MAX_CREATION_BYTES + 1)))).toEqual([
    413,
    'offer-too-large',
  ]);
  const type = { 'content-type': 'text/plain' };
  expect(await problemOf(await post(creation(), CHROME, type))).toEqual([
    415,
    'unsupported-media-type',
  ]);
});

test('an offer with a session, which is signed with it', async () => {
  const json = { 'content-type': 'application/json' };
  const body = JSON.stringify({ offer: CHROME, session: { instructions: 'Be kind.' } });
  expect((await post(creation(), body, json)).status).toBe(201);
  const claims = creation();
  const authorization = `Bearer ${sign(KEY, CLUSTER, claims, body)}`;
  const other = body.replace('kind', 'rude');
  expect(await problemOf(await post(claims, other, { ...json, authorization }))).toEqual([
    401,
    'unauthorized',
  ]);
  for (const text of ['{', '[]', '{"offer":"v=0"}', '{"offer":"v=0","session":[]}']) {
    expect(await problemOf(await post(creation(), text, json))).toEqual([400, 'malformed-request']);
  }
  expect(stage.transceiver.report().sessions).toBe(1);
});

test('a transceiver that is elsewhere, a call that is there, and no room', async () => {
  const claims = creation();
  expect((await post(claims)).status).toBe(201);
  expect(await problemOf(await post(claims))).toEqual([409, 'conflict']);
  expect(await problemOf(await post(creation({ transceiver: 8 })))).toEqual([409, 'conflict']);
  expect((await post(creation())).status).toBe(201);
  const full = await post(creation());
  expect(full.headers.get('retry-after')).toMatch(/^\d+$/);
  expect(await problemOf(full)).toEqual([503, 'no-capacity']);
});

test('health and unknown addresses', async () => {
  const health = await app.request('/healthz');
  expect(await health.json()).toEqual({ status: 'ok' });
  expect(await problemOf(await app.request('/'))).toEqual([404, 'not-found']);
});
