/** Two transceivers' signaling over real HTTP, and requests that come to the wrong one. */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { SignatureVerifier, sign, type Forward } from '../../protocol/signature.ts';
import { serveHttp, type HttpServer } from '../http-server.ts';
import { HOP_HEADER, type OwnerPlace } from './owner-forwarding.ts';
import { signalingApp } from './signaling.ts';
import { CHROME } from './testing/offers.ts';
import { openStage, type Stage } from './testing/stage.ts';

const CLUSTER = 3;
const KEY = randomBytes(32);
const LOOPBACK = { address: '127.0.0.1', port: 0 };
const OWNER = 7;

/** The signaling of a process that has these transceivers and finds others in `places`. */
async function serve(stage: Stage | undefined, places: Map<number, OwnerPlace>) {
  const app = signalingApp({
    verifier: new SignatureVerifier(KEY, CLUSTER),
    transceivers: new Map(stage ? [[stage.transceiver.id, stage.transceiver]] : []),
    owners: { find: (id) => Promise.resolve(places.get(id) ?? 'nowhere') },
    log: pino({ level: 'silent' }),
  });
  const server = await serveHttp(app.fetch, LOOPBACK, 'signaling');
  onTestFinished(() => server.close());
  return server;
}

/** A process that owns transceiver 7, and one that has none and knows of it. */
async function twoProcesses() {
  const stage = await openStage();
  onTestFinished(() => stage[Symbol.asyncDispose]());
  const owner = await serve(stage, new Map());
  const stranger = await serve(undefined, new Map([[OWNER, owner.address]]));
  return { stage, owner, stranger };
}

const common = (transceiver = OWNER) => ({
  requestId: 'r',
  transceiver,
  call: randomBytes(16).toString('hex'),
  tenant: 'acme',
});

const creation = (transceiver?: number) => ({
  op: 'create' as const,
  ...common(transceiver),
  ufrag: randomBytes(23).toString('hex').slice(0, 23),
  expiresAt: Date.now() + 60_000,
  relays: [{ address: '192.0.2.1', port: 3478, transport: 'udp' as const }],
});

async function send(
  { address }: HttpServer,
  claims: Forward,
  headers: Record<string, string> = {},
  token?: string,
) {
  const isNew = claims.op === 'create';
  const body = isNew ? CHROME : undefined;
  const path = isNew ? '/v1/sessions' : `/v1/sessions/${claims.call}`;
  const bearer = token ?? sign(KEY, CLUSTER, claims, body);
  return fetch(`http://${address.address}:${address.port}${path}`, {
    method: isNew ? 'POST' : 'DELETE',
    body: body ?? null,
    headers: {
      authorization: `Bearer ${bearer}`,
      ...(isNew ? { 'content-type': 'application/sdp' } : {}),
      ...headers,
    },
  });
}

test('a call is made and ended through a transceiver that is not its owner', async () => {
  const { stage, stranger } = await twoProcesses();
  const claims = creation();
  const created = await send(stranger, claims);
  expect(created.status).toBe(201);
  expect(created.headers.get('content-type')).toBe('application/sdp');
  expect(created.headers.get('etag')).toMatch(/^"/);
  expect(created.headers.get('server-timing')).toMatch(/^answer;/);
  expect(await created.text()).toContain(`a=ice-ufrag:${claims.ufrag}`);
  expect(stage.session(claims.call)?.state).toBe('checking');

  const { requestId, transceiver, call, tenant } = claims;
  const end = { op: 'end' as const, requestId, transceiver, call, tenant };
  const foreign = await send(stranger, { ...end, tenant: 'other' });
  expect([foreign.status, foreign.headers.get('content-type')]).toEqual([
    404,
    'application/problem+json',
  ]);
  expect((await send(stranger, end)).status).toBe(200);
  expect(await stage.ended(call)).toBe('deleted');
});

test('a token is good once, whichever way it comes', async () => {
  const { stage, owner, stranger } = await twoProcesses();
  const claims = creation();
  const token = sign(KEY, CLUSTER, claims, CHROME);
  expect((await send(stranger, claims, {}, token)).status).toBe(201);
  expect((await send(stranger, claims, {}, token)).status).toBe(401);
  expect((await send(owner, claims, {}, token)).status).toBe(401);
  expect(stage.transceiver.counters().created).toBe(1);
});

test('what the owner refuses comes back as it is', async () => {
  const { stage, stranger } = await twoProcesses();
  void stage.transceiver.drain(60_000, new AbortController().signal);
  const refused = await send(stranger, creation());
  expect(refused.status).toBe(503);
  expect(refused.headers.get('retry-after')).toMatch(/^\d+$/);
  expect(refused.headers.get('content-type')).toBe('application/problem+json');
});

test('a request is passed on once at most', async () => {
  const places = new Map<number, OwnerPlace>();
  const one = await serve(undefined, places);
  const other = await serve(undefined, places);
  // Each says that the other is the owner.
  places.set(1, other.address);
  expect((await send(one, { op: 'end', ...common(1) })).status).toBe(404);
  expect((await send(one, creation(1))).status).toBe(409);
  const marked = await send(one, { op: 'end', ...common(1) }, { [HOP_HEADER]: '1' });
  expect(marked.status).toBe(404);
});

test('an owner that is nowhere, not to be found, gone or silent gets a clear answer', async () => {
  const silent = createServer(() => undefined).listen(0, '127.0.0.1');
  await once(silent, 'listening');
  onTestFinished(() => {
    silent.closeAllConnections();
    silent.close();
  });
  const bound = silent.address();
  if (bound === null || typeof bound === 'string') throw new Error('It has no port.');
  const closed = await serve(undefined, new Map());
  await closed.close();
  const server = await serve(
    undefined,
    new Map<number, OwnerPlace>([
      [2, 'unknown'],
      [3, closed.address],
      [4, { address: '127.0.0.1', port: bound.port }],
    ]),
  );
  const statusOf = async (id: number) => (await send(server, { op: 'end', ...common(id) })).status;
  expect(await statusOf(1)).toBe(404);
  expect(await statusOf(2)).toBe(502);
  expect(await statusOf(3)).toBe(502);
  expect(await statusOf(4)).toBe(504);
});

test('nothing is passed on for who has no good token, and no body that is too large', async () => {
  const { stage, stranger } = await twoProcesses();
  expect((await send(stranger, creation(), {}, 'a.b.c')).status).toBe(401);
  const claims = creation();
  const token = sign(KEY, CLUSTER, claims, CHROME);
  const { address, port } = stranger.address;
  const large = await fetch(`http://${address}:${port}/v1/sessions`, {
    method: 'POST',
    body: 'v=0\r\n'.repeat(100_000),
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/sdp' },
  });
  expect(large.status).toBe(413);
  expect(stage.transceiver.counters().created).toBe(0);
});
