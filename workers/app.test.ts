import { env, exports } from 'cloudflare:workers';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { newCall } from '../protocol/call-id.ts';
import { PROBLEM_CONTENT_TYPE, type Problem, type ProblemName } from '../protocol/problem.ts';
import { parseSigningKey, sign } from '../protocol/signature.ts';
import { MAX_OFFER_BYTES } from '../protocol/creation.ts';
import { edgeKeys } from './keys.ts';
import { testTable } from './testing/steering-table.ts';

const EDGE = 'https://edge.test';
const sockets: WebSocket[] = [];

/** `cf` is what Cloudflare would tell of the client. */
function ask(path: string, init: RequestInit<Partial<IncomingRequestCfProperties>> = {}) {
  return exports.default.fetch(new Request(EDGE + path, init));
}

function post(body: BodyInit | null, contentType = 'application/sdp'): Promise<Response> {
  return ask('/v1/calls', { method: 'POST', body, headers: { 'content-type': contentType } });
}

async function join(cluster: number, transceiver: number): Promise<void> {
  const token = sign(parseSigningKey(env.SIGNING_KEY), cluster, { op: 'join', transceiver });
  const headers = { upgrade: 'websocket', authorization: `Bearer ${token}` };
  const response = await ask(`/v1/roster/${cluster}`, { headers });
  expect(response.status).toBe(101);
  const socket = response.webSocket!;
  socket.accept();
  sockets.push(socket);
  socket.send(JSON.stringify({ transceiver, sessions: 0, capacity: 5, draining: false }));
  const roster = env.ROSTER.getByName(String(cluster));
  await vi.waitFor(async () => expect(await roster.snapshot()).toHaveLength(1));
}

beforeAll(async () => {
  await env.TENANTS.put('public', JSON.stringify({ keys: [], callsPerMinute: 6000 }));
  await env.FOOTPRINT.put('steering', JSON.stringify(testTable()));
  for (const cluster of [1, 2]) await join(cluster, 4);
});
afterAll(() => {
  for (const socket of sockets) socket.close();
});

/** What a response that is a problem must have, whatever the problem. */
async function problemOf(response: Response) {
  const { headers } = response;
  const body = await response.json<Problem>();
  return {
    status: response.status,
    name: body.type.replace('urn:global-relay:problem:', ''),
    sameStatus: body.status === response.status,
    detailed: body.detail.length > 0,
    contentType: headers.get('content-type'),
    origins: headers.get('access-control-allow-origin'),
    identified: /^[\w-]+$/.test(headers.get('x-request-id') ?? ''),
  };
}

function aProblem(status: number, name: ProblemName): Awaited<ReturnType<typeof problemOf>> {
  return {
    status,
    name,
    sameStatus: true,
    detailed: true,
    contentType: PROBLEM_CONTENT_TYPE,
    origins: '*',
    identified: true,
  };
}

async function requestIdFor(given: string): Promise<string | null> {
  const response = await ask('/healthz', { headers: { 'x-request-id': given } });
  return response.headers.get('x-request-id');
}

describe('GET /v1/where', () => {
  it.each([
    ['IAD', '38.95', '-77.45', 'US', 'us-east-1', 'us-east-1'],
    ['LAX', '34.05', '-118.24', 'US', 'us-east-1', 'us-east-1'],
    ['GRU', '-23.55', '-46.63', 'BR', 'us-east-1', 'us-east-1'],
    ['YYZ', '43.65', '-79.38', 'CA', 'us-east-1', 'us-east-1'],
    ['LHR', '51.51', '-0.13', 'GB', 'eu-central-1', 'eu-central-1'],
    ['FRA', '50.11', '8.68', 'DE', 'eu-central-1', 'eu-central-1'],
    ['LOS', '6.52', '3.38', 'NG', 'eu-central-1', 'eu-central-1'],
    ['JNB', '-26.2', '28.05', 'ZA', 'eu-central-1', 'eu-central-1'],
    ['BOM', '19.08', '72.88', 'IN', 'eu-central-1', 'eu-central-1'],
    // Nobody is on the roster of cluster 3: its relays take the media, its failover the session.
    ['NRT', '35.68', '139.69', 'JP', 'us-east-1', 'ap-northeast-1'],
    ['SYD', '-33.87', '151.21', 'AU', 'us-east-1', 'ap-northeast-1'],
    ['SIN', '1.35', '103.82', 'SG', 'us-east-1', 'ap-northeast-1'],
    ['HNL', '21.31', '-157.86', 'US', 'us-east-1', 'ap-northeast-1'],
  ] as const)(
    'sends %s where it belongs',
    async (colo, latitude, longitude, country, region, ingress) => {
      const response = await ask('/v1/where', { cf: { colo, latitude, longitude, country } });
      expect(response.status).toBe(200);
      expect(response.headers.get('cache-control')).toBe('no-store');
      expect(await response.json()).toMatchObject({
        colo,
        region,
        basis: 'coordinates',
        ingress: { region: ingress, relays: [{ port: 3478 }] },
        clusters: [{ region: ingress, distanceKm: expect.any(Number) }, {}, {}],
      });
    },
  );

  it('says why a cluster is passed by', async () => {
    const cf = { latitude: '35.68', longitude: '139.69' };
    const { reason } = await (await ask('/v1/where', { cf })).json<{ reason: string }>();
    expect(reason).toBe(
      'ap-northeast-1 comes first (nearest to 35.68, 139.69), but no transceiver of it answers now',
    );
  });

  it('goes by country, and without one by default', async () => {
    const cf = { country: 'DE', latitude: '', longitude: 'abc' } as const;
    expect(await (await ask('/v1/where', { cf })).json()).toMatchObject({
      region: 'eu-central-1',
      basis: 'country',
      clusters: [{ distanceKm: null }, {}, {}],
    });
    for (const nothing of [{}, { country: 'T1' as const }]) {
      const response = await ask('/v1/where', { cf: nothing });
      expect(await response.json()).toMatchObject({ region: 'us-east-1', basis: 'default' });
    }
  });
});

describe('POST /v1/calls', () => {
  it.each(['text/plain', 'application/json', 'application/sdpx', ''])(
    'refuses content-type %o',
    async (type) => {
      expect(await problemOf(await post('v=0\r\n', type))).toEqual(
        aProblem(415, 'unsupported-media-type'),
      );
    },
  );

  it.each([
    ['an empty body', ''],
    ['no SDP', 'hello'],
    ['SDP that begins late', '\r\nv=0\r\n'],
    ['another version', 'v=01\r\n'],
    ['bytes that are no UTF-8', new Uint8Array([0x76, 0x3d, 0x30, 0xff, 0xfe])],
  ])('refuses %s', async (_name, body) => {
    expect(await problemOf(await post(body))).toEqual(aProblem(400, 'malformed-offer'));
  });

  it('says how line breaks are kept when the offer has none', async () => {
    const response = await post('v=0o=- 1 1 IN IP4 0.0.0.0s=-t=0 0');
    expect(response.status).toBe(400);
    const { type, detail } = await response.json<Problem>();
    expect(type).toBe('urn:global-relay:problem:malformed-offer');
    expect(detail).toContain('line breaks');
    expect(detail).toContain('--data-binary');
  });

  it('refuses an offer that is too large, told or streamed', async () => {
    const large = `v=0\r\n${'a'.repeat(MAX_OFFER_BYTES)}`;
    expect(await problemOf(await post(large))).toEqual(aProblem(413, 'offer-too-large'));
    const stream = new Blob([large]).stream();
    expect(await problemOf(await post(stream))).toEqual(aProblem(413, 'offer-too-large'));
  });
});

describe('DELETE /v1/calls/:id', () => {
  it.each(['x', 'A'.repeat(86), '%00', `A${'-'.repeat(85)}`])('does not know %s', async (id) => {
    const response = await ask(`/v1/calls/${id}`, { method: 'DELETE' });
    expect(await problemOf(response)).toEqual(aProblem(404, 'call-not-found'));
  });
});

describe('GET /v1/roster/:cluster', () => {
  it.each(['4', '01', '-1', 'x', '1e0'])('has none for cluster %s', async (cluster) => {
    expect(await problemOf(await ask(`/v1/roster/${cluster}`))).toEqual(aProblem(404, 'not-found'));
  });

  it('takes WebSockets only, and signed ones', async () => {
    expect(await problemOf(await ask('/v1/roster/1'))).toEqual(aProblem(426, 'upgrade-required'));
    const headers = { upgrade: 'websocket', authorization: 'Bearer a.b.c' };
    expect(await problemOf(await ask('/v1/roster/1', { headers }))).toEqual(
      aProblem(401, 'unauthorized'),
    );
  });
});

describe('every route', () => {
  it('is known by its problem when it is none', async () => {
    expect(await problemOf(await ask('/v2/calls'))).toEqual(aProblem(404, 'not-found'));
    expect(await problemOf(await ask('/v1/calls/'))).toEqual(aProblem(404, 'not-found'));
  });

  it.each([
    ['PUT', '/v1/calls', ['POST', 'GET', 'HEAD']],
    ['PATCH', '/v1/calls', ['POST', 'GET', 'HEAD']],
    ['POST', '/v1/calls/abc', ['PATCH', 'DELETE', 'GET', 'HEAD']],
    ['POST', '/v1/where', ['GET', 'HEAD']],
    ['DELETE', '/healthz', ['GET', 'HEAD']],
  ])('refuses %s %s and says what it takes', async (method, path, allow) => {
    const response = await ask(path, { method });
    const allowed = response.headers.get('allow')?.split(', ').toSorted();
    expect(await problemOf(response)).toEqual(aProblem(405, 'method-not-allowed'));
    expect(allowed).toEqual(allow.toSorted());
  });

  it('keeps a request id that is fit, and makes one otherwise', async () => {
    expect(await requestIdFor('abc-1_2')).toBe('abc-1_2');
    expect(await requestIdFor('a'.repeat(129))).toMatch(/^[0-9a-f-]{36}$/);
    expect(await requestIdFor('a b')).toMatch(/^[0-9a-f-]{36}$/);
  });

  it('answers browsers of any origin', async () => {
    const headers = {
      origin: 'https://elsewhere.test',
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'content-type',
    };
    const response = await ask('/v1/calls', { method: 'OPTIONS', headers });
    expect(response.status).toBe(204);
    expect(response.headers.get('accept-post')).toBe('application/sdp');
    expect(response.headers.get('access-control-allow-origin')).toBe('*');
    expect(response.headers.get('access-control-allow-methods')).toContain('DELETE');
    expect(response.headers.get('access-control-allow-headers')).toContain('content-type');
    const exposed = (await ask('/healthz')).headers.get('access-control-expose-headers');
    for (const name of ['location', 'etag', 'link', 'server-timing', 'relay-path']) {
      expect(exposed).toContain(name);
    }
  });

  it.each(['OPTIONS', 'GET', 'PUT'])(
    'lets no page of another origin %s the admin API',
    async (method) => {
      const headers = {
        origin: 'https://elsewhere.test',
        'access-control-request-method': 'PUT',
        'access-control-request-headers': 'authorization',
      };
      const response = await ask('/admin/clusters/1/drain', { method, headers });
      await response.text();
      expect(response.status).toBeGreaterThanOrEqual(400);
      expect(response.headers.get('x-request-id')).not.toBeNull();
      const told = [...response.headers.keys()].filter((name) =>
        name.startsWith('access-control-'),
      );
      expect(told).toEqual([]);
    },
  );

  it('gives WHIP clients that ask for calls nothing, politely', async () => {
    const id = await edgeKeys(env).callIds.seal({
      cluster: 2,
      transceiver: 4,
      call: newCall(),
      tenant: 'public',
    });
    for (const path of ['/v1/calls', `/v1/calls/${id}`]) {
      const response = await ask(path);
      expect(response.status).toBe(204);
      expect(await response.text()).toBe('');
    }
  });

  it('does not know a call whose id was never given out', async () => {
    for (const id of ['abc', 'A'.repeat(86), '%00']) {
      expect(await problemOf(await ask(`/v1/calls/${id}`))).toEqual(
        aProblem(404, 'call-not-found'),
      );
      expect((await ask(`/v1/calls/${id}`, { method: 'HEAD' })).status).toBe(404);
    }
  });

  it('is healthy', async () => {
    expect(await (await ask('/healthz')).json()).toEqual({ status: 'ok' });
  });
});
