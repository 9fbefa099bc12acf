// RFC 9725, one test a requirement. The origin speaks the signed contract and makes no media.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { MAX_FRAGMENT_BYTES } from '../protocol/ice-fragment.ts';
import { CallIdCodec } from '../protocol/call-id.ts';
import { parseRoutingKeys } from '../protocol/routing-keys.ts';
import { UfragCodec } from '../protocol/ufrag.ts';
import { SESSION_LIFETIME } from './session-lifetime.ts';
import {
  ANSWER,
  FIRST_TAG,
  FRAGMENT_TYPE,
  NEW_FRAGMENT,
  OFFER,
  openCallStage,
  refusal,
  SECOND_TAG,
  willing,
  type CallStage,
} from './testing/call-stage.ts';
import { ROUTING_KEYS } from './testing/local-edge.ts';
import { testTable } from './testing/steering-table.ts';

const FRAGMENT = 'a=ice-ufrag:qYcw\r\na=ice-pwd:9KgWRQkJ4Pj0Zn3v6y6cM3QhL\r\n';
const FRANKFURT = { colo: 'FRA', latitude: '50.11', longitude: '8.68' };
const TOKYO = { colo: 'NRT', latitude: '35.68', longitude: '139.69' };

let edge: CallStage['edge'];
let origin: CallStage['origin'];
let stage: CallStage;

beforeAll(async () => {
  stage = await openCallStage();
  ({ edge, origin } = stage);
});
afterAll(() => stage?.close());
beforeEach(() => origin.behave(willing));

interface Ask {
  readonly body?: string | Uint8Array;
  readonly headers?: Record<string, string>;
  readonly cf?: object;
}

const ask = (method: string, path: string, { body, headers = {}, cf = FRANKFURT }: Ask = {}) =>
  edge.fetch(path, { method, headers, cf, ...(body === undefined ? {} : { body }) });

const post = (path = '/v1/calls', headers: Record<string, string> = {}, body = OFFER) =>
  ask('POST', path, { body, headers: { 'content-type': 'application/sdp', ...headers } });

/** The path of a call that was just placed. */
async function place(): Promise<string> {
  const response = await post();
  await response.text();
  return response.headers.get('location')!;
}

const patch = (path: string, ifMatch: string | undefined, options: Ask = {}) =>
  ask('PATCH', path, {
    body: FRAGMENT,
    ...options,
    headers: {
      'content-type': FRAGMENT_TYPE,
      ...(ifMatch === undefined ? {} : { 'if-match': ifMatch }),
      ...options.headers,
    },
  });

async function problemOf(response: { status: number; json(): Promise<unknown> }) {
  const body = await response.json();
  const type = typeof body === 'object' && body && 'type' in body ? String(body.type) : '';
  return [response.status, type.replace('urn:global-relay:problem:', '')];
}

const ops = () => origin.requests.map(({ claims }) => claims.op);

describe('§4.2, the offer', () => {
  it('is answered by 201 with SDP, the session’s URL and a strong ETag', async () => {
    const response = await post();
    expect(response.status).toBe(201);
    expect(response.headers.get('content-type')).toBe('application/sdp');
    expect(response.headers.get('location')).toMatch(/^\/v1\/calls\/[\w-]{65,}$/);
    expect(response.headers.get('etag')).toMatch(/^"[^"]+"$/);
    expect(await response.text()).toBe(ANSWER);
  });

  it('is refused by 415 when it is of another type', async () => {
    const response = await post('/v1/calls', { 'content-type': 'application/json' });
    expect(await problemOf(response)).toEqual([415, 'unsupported-media-type']);
  });

  it('is refused by 400 when it is malformed', async () => {
    expect(await problemOf(await post('/v1/calls', {}, 'hello'))).toEqual([400, 'malformed-offer']);
  });
});

describe('§4.2, the URLs', () => {
  it('give GET a 2xx without content', async () => {
    for (const path of ['/v1/calls', await place()]) {
      const response = await ask('GET', path);
      expect(response.status).toBe(204);
      expect(await response.text()).toBe('');
    }
  });

  it('refuse other methods by 405', async () => {
    expect((await problemOf(await ask('PUT', '/v1/calls')))[0]).toBe(405);
    expect((await problemOf(await ask('POST', await place())))[0]).toBe(405);
  });

  it('tell OPTIONS what they take, and scripts of any origin what to send and read', async () => {
    const headers = { origin: 'https://a.test', 'access-control-request-method': 'PATCH' };
    const endpoint = await ask('OPTIONS', '/v1/calls', { headers });
    expect(endpoint.status).toBe(204);
    expect(endpoint.headers.get('accept-post')).toBe('application/sdp');
    expect(endpoint.headers.get('access-control-allow-methods')).toContain('PATCH');
    expect(endpoint.headers.get('access-control-allow-headers')).toContain('if-match');
    const session = await ask('OPTIONS', await place(), { headers });
    expect(session.status).toBe(204);
    expect(session.headers.get('accept-patch')).toBe(FRAGMENT_TYPE);
    const exposed = (await ask('GET', '/v1/calls')).headers.get('access-control-expose-headers');
    for (const name of ['location', 'etag', 'link']) expect(exposed).toContain(name);
  });
});

describe('§4.2, the end', () => {
  it('is 200 by DELETE', async () => {
    expect((await ask('DELETE', await place())).status).toBe(200);
    expect(ops()).toEqual(['create', 'end']);
  });

  it('is 404 for a session that is over', async () => {
    const location = await place();
    origin.behave(() => ({ status: 404 }));
    expect(await problemOf(await ask('DELETE', location))).toEqual([404, 'call-not-found']);
  });
});

describe('§4.3.1, a change of ICE', () => {
  it('is refused by 428 without If-Match', async () => {
    const location = await place();
    expect(await problemOf(await patch(location, undefined))).toEqual([
      428,
      'precondition-required',
    ]);
    expect(ops()).toEqual(['create']);
  });

  it('is refused by 412 when the ETag is of other ICE', async () => {
    const location = await place();
    origin.behave(() => refusal('precondition-failed'));
    expect(await problemOf(await patch(location, '"old"'))).toEqual([412, 'precondition-failed']);
    expect(origin.requests).toMatchObject([{ method: 'PATCH', claims: { op: 'trickle' } }]);
  });

  it('is refused by 415 when it is no fragment', async () => {
    const location = await place();
    const response = await patch(location, '*', { headers: { 'content-type': 'application/sdp' } });
    expect(await problemOf(response)).toEqual([415, 'unsupported-media-type']);
    expect(ops()).toEqual(['create']);
  });

  it('is refused by 400 when it is malformed', async () => {
    const location = await place();
    const body = new Uint8Array([0x61, 0xff, 0xfe]);
    expect(await problemOf(await patch(location, '*', { body }))).toEqual([
      400,
      'malformed-fragment',
    ]);
    expect(ops()).toEqual(['create']);
    origin.behave(() => refusal('malformed-fragment'));
    expect(await problemOf(await patch(location, '*'))).toEqual([400, 'malformed-fragment']);
  });

  it('is refused by 413 when it is too large', async () => {
    const location = await place();
    const body = 'x'.repeat(MAX_FRAGMENT_BYTES + 1);
    expect(await problemOf(await patch(location, '*', { body }))).toEqual([
      413,
      'fragment-too-large',
    ]);
    expect(ops()).toEqual(['create']);
  });

  it('is refused by 404 for ids that were never given out, and for calls that are over', async () => {
    const location = await place();
    const ref = { cluster: 2, transceiver: 21, call: '0'.repeat(32), tenant: 'another' };
    const foreign = await new CallIdCodec(parseRoutingKeys(ROUTING_KEYS)).seal(ref);
    for (const id of ['x', foreign, 'A'.repeat(86)]) {
      expect(await problemOf(await patch(`/v1/calls/${id}`, '*'))).toEqual([404, 'call-not-found']);
    }
    expect(ops()).toEqual(['create']);
    origin.behave(() => refusal('call-not-found'));
    expect(await problemOf(await patch(location, '*'))).toEqual([404, 'call-not-found']);
  });
});

describe('§4.3.2, trickled candidates', () => {
  it('are taken by 204 without content or ETag', async () => {
    const response = await patch(await place(), FIRST_TAG);
    expect(response.status).toBe(204);
    expect(response.headers.get('etag')).toBeNull();
    expect(await response.text()).toBe('');
    const [create, trickle] = origin.requests;
    expect(trickle).toMatchObject({
      method: 'PATCH',
      url: `/v1/sessions/${create!.claims.call}`,
      body: FRAGMENT,
      claims: { op: 'trickle', transceiver: 21, call: create!.claims.call },
    });
  });
});

describe('§4.3.3, an ICE restart', () => {
  it('is answered by 200 with a fragment and the next ETag', async () => {
    const response = await patch(await place(), '*');
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe(FRAGMENT_TYPE);
    expect(response.headers.get('etag')).toBe(SECOND_TAG);
    expect(await response.text()).toBe(NEW_FRAGMENT);
  });

  it('has a fresh ufrag with the route of before', async () => {
    const location = await place();
    const before = Date.now();
    await (await patch(location, ' * ')).text();
    await (await patch(location, '*')).text();
    const ufrags = new UfragCodec(parseRoutingKeys(ROUTING_KEYS));
    const seen = origin.requests.map(({ claims }) => ('ufrag' in claims ? claims.ufrag : ''));
    expect(new Set(seen).size).toBe(3);
    for (const ufrag of seen) {
      const opened = ufrags.open(Buffer.from(ufrag), before + SESSION_LIFETIME - 1);
      expect(opened).toMatchObject({ ok: true, route: { cluster: 2, transceiver: 21 } });
    }
  });

  it('names the relays that are nearest by now, then those of the session', async () => {
    await (await patch(await place(), '*', { cf: TOKYO })).text();
    const [, eu, ap] = testTable().clusters;
    expect(origin.requests.at(-1)!.claims).toMatchObject({
      relays: [...ap!.relays, ...eu!.relays],
    });
  });

  it('that fails leaves a 4xx, or says that the cluster is to blame', async () => {
    const location = await place();
    origin.behave(() => refusal('conflict'));
    expect(await problemOf(await patch(location, '*'))).toEqual([409, 'conflict']);
    for (const [status, headers] of [
      [500, {}],
      [204, {}],
      [200, { 'content-type': FRAGMENT_TYPE }],
      [200, { 'content-type': 'text/html', etag: '"x"' }],
    ] as const) {
      origin.behave(() => (status === 204 ? { status } : { status, headers, body: NEW_FRAGMENT }));
      expect(await problemOf(await patch(location, '*'))).toEqual([502, 'bad-gateway']);
    }
  });
});

describe('§4.5, load', () => {
  it('is told by 503 and Retry-After', async () => {
    origin.behave(() => ({ status: 503 }));
    const response = await post();
    expect(response.headers.get('retry-after')).toMatch(/^\d+$/);
    expect(await problemOf(response)).toEqual([503, 'no-capacity']);
  });
});

describe('/whip, for ingest', () => {
  it('sends on an offer to send alone, and gives the URL of a call', async () => {
    const response = await post('/whip');
    expect(response.status).toBe(201);
    expect(await response.text()).toBe(ANSWER);
    expect(origin.requests[0]!.body).toBe(OFFER.replace('sendrecv', 'sendonly'));
    const location = response.headers.get('location')!;
    expect((await patch(location, FIRST_TAG)).status).toBe(204);
    expect((await ask('DELETE', location)).status).toBe(200);
  });

  it('refuses by 400 what does not send', async () => {
    const response = await post('/whip', {}, OFFER.replace('sendrecv', 'recvonly'));
    expect(await problemOf(response)).toEqual([400, 'unacceptable-offer']);
    expect(origin.requests).toEqual([]);
  });

  it('takes what an endpoint takes', async () => {
    expect((await ask('GET', '/whip')).status).toBe(204);
    expect((await ask('OPTIONS', '/whip')).headers.get('accept-post')).toBe('application/sdp');
    const response = await post('/whip', { 'content-type': 'text/plain' });
    expect(await problemOf(response)).toEqual([415, 'unsupported-media-type']);
    expect((await problemOf(await ask('DELETE', '/whip')))[0]).toBe(405);
  });
});
