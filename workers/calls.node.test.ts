// The origin here speaks the signed contract and makes no media; test/ has calls with real transceivers.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { CallIdCodec } from '../protocol/call-id.ts';
import { problem } from '../protocol/problem.ts';
import { parseRoutingKeys } from '../protocol/routing-keys.ts';
import { parseSigningKey } from '../protocol/signature.ts';
import { UfragCodec } from '../protocol/ufrag.ts';
import { SESSION_LIFETIME } from './session-lifetime.ts';
import { ROUTING_KEYS, SIGNING_KEY, startLocalEdge, type LocalEdge } from './testing/local-edge.ts';
import { startSignedOrigin, type Behavior, type SignedOrigin } from './testing/signed-origin.ts';
import { testTable } from './testing/steering-table.ts';
import { MAX_TRIES } from './tries.ts';

const OFFER = 'v=0\r\no=- 1 1 IN IP4 0.0.0.0\r\ns=ü\r\n';
const ANSWER = 'v=0\r\no=- 2 2 IN IP4 0.0.0.0\r\ns=the answer, as it is ✓\r\n';
const ufrags = new UfragCodec(parseRoutingKeys(ROUTING_KEYS));
const callIds = new CallIdCodec(parseRoutingKeys(ROUTING_KEYS));

const created: Behavior = () => ({
  status: 201,
  headers: {
    'content-type': 'application/sdp',
    etag: '"tag"',
    'server-timing': 'answer;dur=1.5',
  },
  body: ANSWER,
});
const status =
  (code: number): Behavior =>
  () => ({ status: code });

let edge: LocalEdge;
/** Of clusters 1 to 3. */
let origins: [SignedOrigin, SignedOrigin, SignedOrigin];

beforeAll(async () => {
  const key = parseSigningKey(SIGNING_KEY);
  origins = await Promise.all([
    startSignedOrigin(key, 1),
    startSignedOrigin(key, 2),
    startSignedOrigin(key, 3),
  ]);
  const [one, two, three] = origins.map(({ url }) => ({ signaling: url }));
  edge = await startLocalEdge(JSON.stringify(testTable({ 1: one!, 2: two!, 3: three! })));
  const report = { sessions: 0, capacity: 10, draining: false };
  // Cluster 1 has one transceiver, cluster 2 has two that can take calls, cluster 3 has none.
  // The lot falls on 21 first, for nearly all the room is there.
  await edge.join(1, { ...report, transceiver: 11 });
  await edge.join(2, { ...report, transceiver: 21, capacity: 1e12 });
  await edge.join(2, { ...report, transceiver: 22, sessions: 5 });
  await edge.join(2, { ...report, transceiver: 23, draining: true });
  await edge.join(3, { ...report, transceiver: 31, sessions: 10 });
  await edge.join(3, { ...report, transceiver: 32, draining: true });
}, 60_000);
afterAll(async () => {
  await edge.close();
  await Promise.all(origins.map((origin) => origin.close()));
});
beforeEach(async () => {
  // Clusters that failed in the test before are trusted again once they answer, and be it with no.
  for (const origin of origins) origin.behave(status(503));
  await (await call()).text();
  for (const origin of origins) origin.behave(created);
});

const FRANKFURT = { colo: 'FRA', latitude: '50.11', longitude: '8.68' };
const TOKYO = { colo: 'NRT', latitude: '35.68', longitude: '139.69' };

function call(cf: object = FRANKFURT, headers: Record<string, string> = {}) {
  return edge.fetch('/v1/calls', {
    method: 'POST',
    body: OFFER,
    headers: { 'content-type': 'application/sdp', ...headers },
    cf,
  });
}

/** What the origins were asked for, in the order of clusters. */
const creates = () =>
  origins
    .flatMap(({ requests }) => requests)
    .map(({ claims }) => claims)
    .filter((claims) => claims.op === 'create');

async function expectProblem(response: { status: number; json(): Promise<unknown> }, name: string) {
  expect(await response.json()).toMatchObject({
    type: `urn:global-relay:problem:${name}`,
    status: response.status,
  });
}

const end = (location: string) => edge.fetch(location, { method: 'DELETE' });

/** Of a call that was just made. */
async function newLocation(): Promise<string> {
  const response = await call();
  await response.text();
  return response.headers.get('location')!;
}

describe('POST /v1/calls', () => {
  it('gives the answer unchanged, with where it came from and how to end the call', async () => {
    const response = await call(FRANKFURT, { 'x-request-id': 'my-request' });
    expect(response.status).toBe(201);
    expect(await response.text()).toBe(ANSWER);
    const { headers } = response;
    expect(headers.get('content-type')).toBe('application/sdp');
    expect(headers.get('etag')).toBe('"tag"');
    expect(headers.get('x-request-id')).toBe('my-request');
    expect(headers.get('server-timing')).toMatch(
      /^steer;dur=[\d.]+, roster;dur=[\d.]+, mint;dur=[\d.]+, forward;dur=[\d.]+, answer;dur=1\.5$/,
    );
    expect(headers.get('relay-path')).toBe(
      'colo="FRA", cluster="eu-central-1", ingress="eu-central-1", transceiver=21',
    );
    const [request] = origins[1].requests;
    const { claims } = request!;
    expect(request).toMatchObject({
      method: 'POST',
      url: '/v1/sessions',
      contentType: 'application/sdp',
      requestId: 'my-request',
      body: OFFER,
      claims: {
        op: 'create',
        requestId: 'my-request',
        transceiver: 21,
        relays: testTable().clusters[1]!.relays,
      },
    });
    const id = headers.get('location')!.replace('/v1/calls/', '');
    const { call: name, tenant } = claims;
    expect(callIds.open(id)).toEqual({ cluster: 2, transceiver: 21, call: name, tenant });
  });

  it('mints a ufrag that leads to the transceiver for as long as the session may live', async () => {
    const before = Date.now();
    await (await call()).text();
    const [claims] = creates();
    expect(claims!.expiresAt).toBeGreaterThanOrEqual(before + SESSION_LIFETIME);
    expect(claims!.expiresAt).toBeLessThanOrEqual(Date.now() + SESSION_LIFETIME);
    const opened = ufrags.open(Buffer.from(claims!.ufrag), Date.now());
    expect(opened).toMatchObject({ ok: true, route: { cluster: 2, transceiver: 21 } });
    // The ufrag counts whole minutes, rounded up.
    const late = ufrags.open(Buffer.from(claims!.ufrag), claims!.expiresAt + 60_000);
    expect(late).toMatchObject({ ok: false, reason: 'expired' });
  });

  it('prefers the transceiver with more room and never one that drains', async () => {
    for (let i = 0; i < 6; i++) await (await call()).text();
    expect(new Set(creates().map(({ transceiver }) => transceiver))).toEqual(new Set([21]));
  });

  it('takes the media in by the nearest relays, then by those where the session lives', async () => {
    const response = await call(TOKYO);
    expect(response.headers.get('relay-path')).toBe(
      'colo="NRT", cluster="us-east-1", ingress="ap-northeast-1", transceiver=11',
    );
    await response.text();
    const [us, , ap] = testTable().clusters;
    expect(creates()[0]!.relays).toEqual([...ap!.relays, ...us!.relays]);
  });

  it.each([409, 503])(
    'answers %i with a new ufrag for another transceiver, then another cluster',
    async (code) => {
      origins[1].behave(status(code));
      const response = await call();
      expect(response.status).toBe(201);
      expect(await response.text()).toBe(ANSWER);
      expect(response.headers.get('relay-path')).toContain('cluster="us-east-1"');
      const claims = creates();
      expect(claims.map(({ transceiver }) => transceiver)).toEqual([11, 21, 22]);
      expect(new Set(claims.map(({ ufrag }) => ufrag)).size).toBe(3);
      expect(new Set(claims.map(({ call: name }) => name)).size).toBe(3);
      for (const { ufrag, transceiver } of claims) {
        const opened = ufrags.open(Buffer.from(ufrag), Date.now());
        expect(opened).toMatchObject({ ok: true, route: { transceiver } });
      }
    },
  );

  it('stops at the first transceiver that takes the call', async () => {
    origins[1].behave((request) =>
      request.claims.transceiver === 21 ? { status: 503 } : created(request),
    );
    const response = await call();
    expect(response.headers.get('relay-path')).toContain('transceiver=22');
    await response.text();
    expect(creates()).toHaveLength(2);
  });

  it('says 503 and when to come again once every try was turned away', async () => {
    for (const origin of origins) origin.behave(status(503));
    const response = await call();
    expect(response.status).toBe(503);
    expect(response.headers.get('retry-after')).toBe('2');
    await expectProblem(response, 'no-capacity');
    expect(creates()).toHaveLength(MAX_TRIES);
    expect(edge.logs()).toContain('origin busy');
  });

  it.each<[string, Behavior]>([
    ['an error', status(500)],
    ['a refused signature', status(401)],
    ['a redirect', () => ({ status: 307, headers: { location: 'http://127.0.0.1:9/' } })],
    ['no SDP', () => ({ status: 201, headers: { 'content-type': 'text/html' }, body: ANSWER })],
    [
      'an empty answer',
      () => ({ status: 201, headers: { 'content-type': 'application/sdp' }, body: '' }),
    ],
    ['a bad request without a reason', status(400)],
    [
      'a problem that is no JSON',
      () => ({ status: 400, headers: { 'content-type': 'application/problem+json' }, body: '{' }),
    ],
  ])('says 502 when the origins answer with %s, and tries elsewhere first', async (_, behavior) => {
    for (const origin of origins) origin.behave(behavior);
    const response = await call();
    expect(response.status).toBe(502);
    await expectProblem(response, 'bad-gateway');
    expect(creates().map(({ transceiver }) => transceiver)).toEqual([11, 21]);
  });

  it.each(['malformed-offer', 'unacceptable-offer', 'offer-too-large'] as const)(
    'passes %s on and tries no other transceiver',
    async (name) => {
      const body = problem(name, 'line 3 is odd');
      const headers = { 'content-type': 'application/problem+json' };
      origins[1].behave(() => ({ status: body.status, headers, body: JSON.stringify(body) }));
      const response = await call();
      expect(response.status).toBe(body.status);
      expect(await response.json()).toEqual(body);
      expect(creates()).toHaveLength(1);
    },
  );

  it('gives a silent cluster up for the next one', { timeout: 30_000 }, async () => {
    origins[1].behave(() => 'never');
    const response = await call();
    expect(response.status).toBe(201);
    expect(response.headers.get('relay-path')).toContain('cluster="us-east-1"');
    await response.text();
    expect(creates().map(({ transceiver }) => transceiver)).toEqual([11, 21]);

    // The next calls do not wait for it, and a person may ask why.
    const next = await call();
    expect(next.headers.get('relay-path')).toContain('cluster="us-east-1"');
    await next.text();
    expect(creates().map(({ transceiver }) => transceiver)).toEqual([11, 11, 21]);
    const where = await edge.fetch('/v1/where', { cf: FRANKFURT });
    expect(await where.json()).toMatchObject({
      region: 'us-east-1',
      reason: expect.stringContaining('but it failed a call a moment ago'),
    });
  });

  it('says 504 when all clusters are silent', { timeout: 30_000 }, async () => {
    for (const origin of origins) origin.behave(() => 'never');
    const response = await call();
    expect(response.status).toBe(504);
    await expectProblem(response, 'gateway-timeout');
    expect(creates().map(({ transceiver }) => transceiver)).toEqual([11, 21]);
  });
});

describe('DELETE /v1/calls/:id', () => {
  it('ends the session at its transceiver', async () => {
    const location = await newLocation();
    const [{ call: name } = { call: '' }] = creates();
    origins[1].behave(status(200));
    expect((await end(location)).status).toBe(200);
    expect(origins[1].requests).toMatchObject([
      {
        method: 'DELETE',
        url: `/v1/sessions/${name}`,
        body: '',
        claims: { op: 'end', transceiver: 21, call: name },
      },
    ]);
  });

  it('says 404 when the origin does', async () => {
    const location = await newLocation();
    origins[1].behave(status(404));
    const response = await end(location);
    expect(response.status).toBe(404);
    await expectProblem(response, 'call-not-found');
  });

  it('says 502 when the origin makes no sense', async () => {
    const location = await newLocation();
    origins[1].behave(status(500));
    const response = await end(location);
    expect(response.status).toBe(502);
    await expectProblem(response, 'bad-gateway');
  });

  it('knows neither a changed id nor one of another cluster', async () => {
    const location = await newLocation();
    const at = '/v1/calls/'.length + 30;
    const changed =
      location.slice(0, at) + (location[at] === 'A' ? 'B' : 'A') + location.slice(at + 1);
    const ref = { cluster: 9, transceiver: 21, call: '0'.repeat(32), tenant: '' };
    for (const path of [changed, `/v1/calls/${await callIds.seal(ref)}`]) {
      const response = await end(path);
      expect(response.status).toBe(404);
      await expectProblem(response, 'call-not-found');
    }
    expect(origins.flatMap(({ requests }) => requests)).toHaveLength(1);
  });
});
