// Caps of calls over the whole edge. The origins here make no media; the soak has real transceivers.
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { parseSigningKey } from '../protocol/signature.ts';
import { hashApiKey } from './api-keys.ts';
import { OFFER, refusal, willing } from './testing/call-stage.ts';
import { SIGNING_KEY, startLocalEdge, type LocalEdge } from './testing/local-edge.ts';
import { startSignedOrigin, type SignedOrigin } from './testing/signed-origin.ts';
import { testTable } from './testing/steering-table.ts';

const ADMIN_KEY = randomBytes(32).toString('base64url');
const CAP = 5;

const BERLIN = { colo: 'TXL', latitude: '52.52', longitude: '13.4' };
const BOSTON = { colo: 'BOS', latitude: '42.36', longitude: '-71.06' };

let edge: LocalEdge;
/** Of clusters 1 and 2, near to Boston and Berlin. */
let origins: [SignedOrigin, SignedOrigin];
let made = 0;

beforeAll(async () => {
  const key = parseSigningKey(SIGNING_KEY);
  origins = await Promise.all([startSignedOrigin(key, 1), startSignedOrigin(key, 2)]);
  const [one, two] = origins.map(({ url }) => ({ signaling: url }));
  const secrets = { ADMIN_KEY_HASH: hashApiKey(ADMIN_KEY) };
  edge = await startLocalEdge(JSON.stringify(testTable({ 1: one!, 2: two! })), secrets);
  const report = { sessions: 0, capacity: 1_000, draining: false };
  await edge.join(1, { ...report, transceiver: 11 });
  await edge.join(2, { ...report, transceiver: 21 });
}, 60_000);
afterAll(async () => {
  await edge?.close();
  await Promise.all(origins?.map((origin) => origin.close()) ?? []);
});
beforeEach(async () => {
  for (const origin of origins) origin.behave(willing);
  // Clusters that failed in the test before are trusted again once they answer.
  for (const cf of [BERLIN, BOSTON]) await (await post('/v1/calls', {}, cf)).text();
  for (const origin of origins) origin.behave(willing);
});

interface TestTenant {
  readonly name: string;
  readonly headers: { readonly authorization: string };
}

/** One of its own for each test. */
async function newTenant(limits: object = { concurrentCalls: CAP }): Promise<TestTenant> {
  const name = `capped-${made++}`;
  const key = `sk_${name}_${randomBytes(32).toString('base64url')}`;
  await edge.putTenant(name, { keys: [hashApiKey(key)], callsPerMinute: 6000, ...limits });
  return { name, headers: { authorization: `Bearer ${key}` } };
}

function post(path: string, headers: object, cf: object = BERLIN) {
  const type = { 'content-type': 'application/sdp' };
  return edge.fetch(path, { method: 'POST', body: OFFER, headers: { ...type, ...headers }, cf });
}

type Answer = Awaited<ReturnType<typeof post>>;

/** Places a call. @returns Its path. */
async function place({ headers }: TestTenant, path = '/v1/calls', cf = BERLIN): Promise<string> {
  const response = await post(path, headers, cf);
  const text = await response.text();
  expect({ status: response.status, text }).toMatchObject({ status: 201 });
  return response.headers.get('location')!;
}

async function end({ headers }: TestTenant, location: string): Promise<number> {
  const response = await edge.fetch(location, { method: 'DELETE', headers });
  await response.text();
  return response.status;
}

async function fill(tenant: TestTenant, count = CAP): Promise<string[]> {
  const paths: string[] = [];
  for (let i = 0; i < count; i++) paths.push(await place(tenant));
  return paths;
}

async function isRefused(response: Answer): Promise<void> {
  const body = await response.text();
  expect({ status: response.status, body }).toMatchObject({ status: 429 });
  expect(response.headers.get('retry-after')).toBe('5');
  expect(JSON.parse(body)).toMatchObject({
    type: 'urn:global-relay:problem:too-many-calls',
    detail: expect.stringContaining(`${CAP} calls at a time`),
  });
}

const creates = () =>
  origins.flatMap(({ requests }) => requests.filter(({ claims }) => claims.op === 'create'));

async function shown(name: string): Promise<unknown> {
  const headers = { authorization: `Bearer ${ADMIN_KEY}` };
  const response = await edge.fetch(`/admin/tenants/${name}`, { headers });
  expect(response.status).toBe(200);
  return response.json();
}

describe('a tenant with a cap', () => {
  it('gets so many calls and no more, however many it asks for at once', async () => {
    const tenant = await newTenant();
    const places = [BERLIN, BOSTON];
    const asked = Array.from({ length: 40 }, (_, i) =>
      post('/v1/calls', tenant.headers, places[i % 2]),
    );
    const answers = await Promise.all(asked);
    const taken = answers.filter(({ status }) => status === 201);
    expect(taken).toHaveLength(CAP);
    for (const answer of answers) {
      if (answer.status === 201) await answer.text();
      else await isRefused(answer);
    }
    // No transceiver was bothered with one that was refused.
    expect(creates()).toHaveLength(CAP);
    expect(taken[0]!.headers.get('server-timing')).toContain('admit;dur=');
  });

  it('has room again for each call that ends', async () => {
    const tenant = await newTenant();
    const [first, second] = await fill(tenant);
    await isRefused(await post('/v1/calls', tenant.headers));
    expect(await end(tenant, first!)).toBe(200);
    await place(tenant);
    await isRefused(await post('/v1/calls', tenant.headers));
    expect(await end(tenant, second!)).toBe(200);
    await place(tenant, '/v1/calls', BOSTON);
    await isRefused(await post('/v1/calls', tenant.headers, BOSTON));
  });

  it('is refused on every way to start a call, in the words of each', async () => {
    const tenant = await newTenant();
    await fill(tenant, CAP - 1);
    const location = await place(tenant, '/v1/realtime/calls');
    await isRefused(await post('/whip', tenant.headers));
    const openAi = await post('/v1/realtime/calls', tenant.headers);
    expect(openAi.status).toBe(429);
    expect(openAi.headers.get('retry-after')).toBe('5');
    expect(await openAi.json()).toMatchObject({
      error: { type: 'rate_limit_error', code: 'too_many_calls' },
    });
    const socket = new WebSocket(`${edge.url.replace('http', 'ws')}/v1/signal`, {
      headers: tenant.headers,
    });
    await once(socket, 'open');
    const ask = async (message: object): Promise<unknown> => {
      socket.send(JSON.stringify(message));
      const [data] = await once(socket, 'message');
      return JSON.parse(String(data));
    };
    expect(await ask({ type: 'offer', sdp: OFFER })).toMatchObject({
      type: 'error',
      problem: { status: 429, type: 'urn:global-relay:problem:too-many-calls' },
    });
    const hungUp = await post(`${location}/hangup`, tenant.headers);
    expect(hungUp.status).toBe(200);
    expect(await ask({ type: 'offer', sdp: OFFER })).toMatchObject({ type: 'answer' });
    await isRefused(await post('/whip', tenant.headers));
    expect(await ask({ type: 'bye' })).toMatchObject({ type: 'bye' });
    await place(tenant, '/whip');
    socket.terminate();
  });

  it('has its place back when nothing comes of a call', async () => {
    const tenant = await newTenant();
    await fill(tenant, CAP - 1);
    for (const origin of origins) origin.behave(() => refusal('unacceptable-offer'));
    expect((await post('/v1/calls', tenant.headers)).status).toBe(400);
    for (const origin of origins) origin.behave(() => ({ status: 503 }));
    expect((await post('/v1/calls', tenant.headers)).status).toBe(503);
    for (const origin of origins) origin.behave(willing);
    await place(tenant);
    await isRefused(await post('/v1/calls', tenant.headers));
  });

  it('has one place for a call that was tried twice', async () => {
    const tenant = await newTenant();
    await fill(tenant, CAP - 1);
    origins[1].behave(() => ({ status: 503 }));
    const location = await place(tenant);
    expect(creates().map(({ claims }) => claims.transceiver)).toContain(11);
    await isRefused(await post('/v1/calls', tenant.headers));
    expect(await end(tenant, location)).toBe(200);
    await place(tenant);
    await isRefused(await post('/v1/calls', tenant.headers));
  });

  it('has no room for a call that was not there to be ended', async () => {
    const tenant = await newTenant();
    const [first] = await fill(tenant);
    for (const origin of origins) origin.behave(() => refusal('call-not-found'));
    expect(await end(tenant, first!)).toBe(404);
    for (const origin of origins) origin.behave(willing);
    await isRefused(await post('/v1/calls', tenant.headers));
  });

  it('leaves room to every other tenant', async () => {
    const tenant = await newTenant();
    await fill(tenant);
    await isRefused(await post('/v1/calls', tenant.headers));
    expect(await fill(await newTenant())).toHaveLength(CAP);
    expect(await fill(await newTenant({}), 2 * CAP)).toHaveLength(2 * CAP);
  });
});

describe('GET /admin/tenants/NAME', () => {
  it('shows the calls of a tenant that has a cap', async () => {
    const tenant = await newTenant();
    const [first] = await fill(tenant, 2);
    const limits = { tenant: tenant.name, callsPerMinute: 6000, concurrentCalls: CAP };
    expect(await shown(tenant.name)).toEqual({ ...limits, calls: 2 });
    await end(tenant, first!);
    expect(await shown(tenant.name)).toEqual({ ...limits, calls: 1 });
  });

  it('counts none of one that has no cap', async () => {
    const { name } = await newTenant({});
    const limits = { tenant: name, callsPerMinute: 6000, concurrentCalls: null };
    expect(await shown(name)).toEqual({ ...limits, calls: null });
  });

  it.each(['nobody', 'a_b', '%F0'])('knows no tenant %s', async (name) => {
    const headers = { authorization: `Bearer ${ADMIN_KEY}` };
    const response = await edge.fetch(`/admin/tenants/${name}`, { headers });
    expect(response.status).toBe(404);
    await response.text();
  });
});
