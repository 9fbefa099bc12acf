// RFC 9725 §4.1, §4.5 and §4.7, one test a requirement. The origin makes no media.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ClientSecrets, parseClientSecretKeys } from './client-secrets.ts';
import {
  FRAGMENT_TYPE,
  OFFER,
  openCallStage,
  willing,
  type CallStage,
} from './testing/call-stage.ts';
import { CLIENT_SECRET_KEYS } from './testing/local-edge.ts';

const TENANT = { keys: [], callsPerMinute: 6000 };
const ENDPOINTS = ['/v1/calls', '/whip'];

let stage: CallStage;
let token: string;

beforeAll(async () => {
  stage = await openCallStage();
  await stage.edge.putTenant('acme', TENANT);
  const secrets = new ClientSecrets(parseClientSecretKeys(CLIENT_SECRET_KEYS));
  token = (await secrets.mint('acme')).value;
});
afterAll(() => stage?.close());
beforeEach(() => stage.origin.behave(willing));

const ask = (method: string, path: string, headers: Record<string, string>, body?: string) =>
  stage.edge.fetch(path, { method, headers, ...(body === undefined ? {} : { body }) });

const post = (path: string, authorization: string) =>
  ask('POST', path, { 'content-type': 'application/sdp', authorization }, OFFER);

describe.each(ENDPOINTS)('§4.7, a bearer token at %s', (path) => {
  it('publishes', async () => {
    const response = await post(path, `Bearer ${token}`);
    expect(response.status).toBe(201);
    await response.text();
  });

  it('that is not good is refused by 401, which asks for another', async () => {
    for (const [bad, challenge] of [
      ['Bearer ek_a.b.c', 'Bearer error="invalid_token"'],
      [`Bearer ${token}x`, 'Bearer error="invalid_token"'],
      ['Bearer', 'Bearer'],
      ['Basic YTpi', 'Bearer'],
    ] as const) {
      const response = await post(path, bad);
      expect(response.status).toBe(401);
      expect(response.headers.get('www-authenticate')).toBe(challenge);
      await response.text();
    }
    expect(stage.origin.requests).toEqual([]);
  });
});

it('§4.7, every request for a session shows the token', async () => {
  const placed = await post('/whip', `Bearer ${token}`);
  await placed.text();
  const location = placed.headers.get('location')!;
  const fragment = 'a=ice-ufrag:qYcw\r\na=ice-pwd:9KgWRQkJ4Pj0Zn3v6y6cM3QhL\r\n';
  const types = { 'content-type': FRAGMENT_TYPE, 'if-match': '*' };
  const change = (authorization: string) =>
    ask('PATCH', location, { ...types, authorization }, fragment);
  const bad = 'Bearer ek_a.b.c';
  for (const response of [
    await change(bad),
    await ask('DELETE', location, { authorization: bad }),
  ]) {
    expect(response.status).toBe(401);
    await response.text();
  }
  const good = `Bearer ${token}`;
  const restarted = await change(good);
  expect(restarted.status).toBe(200);
  await restarted.text();
  expect((await ask('DELETE', location, { authorization: good })).status).toBe(200);
});

describe.each(ENDPOINTS)('§4.1, %s', (path) => {
  it('tells OPTIONS of any page, without a token, that it takes SDP and one', async () => {
    const response = await ask('OPTIONS', path, {
      origin: 'https://studio.test',
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization,content-type',
    });
    expect(response.status).toBe(204);
    expect(response.headers.get('accept-post')).toBe('application/sdp');
    expect(response.headers.get('access-control-allow-origin')).toBe('*');
    expect(response.headers.get('access-control-allow-headers')).toContain('authorization');
  });

  it('gives HEAD as little as GET', async () => {
    expect((await ask('HEAD', path, {})).status).toBe(204);
  });

  it('refuses PUT, PATCH and DELETE by 405, and says what it takes', async () => {
    for (const method of ['PUT', 'PATCH', 'DELETE']) {
      const response = await ask(method, path, {});
      expect(response.status).toBe(405);
      expect(response.headers.get('allow')).toContain('POST');
      await response.text();
    }
  });

  it('takes a media type with parameters and in any case', async () => {
    const headers = { 'content-type': 'Application/SDP; charset=utf-8' };
    const response = await ask('POST', path, headers, OFFER);
    expect(response.status).toBe(201);
    await response.text();
  });

  it('says by 503 when to come again (§4.5)', async () => {
    stage.origin.behave(() => ({ status: 503 }));
    const headers = { 'content-type': 'application/sdp' };
    const response = await ask('POST', path, headers, OFFER);
    expect(response.status).toBe(503);
    expect(response.headers.get('retry-after')).toMatch(/^\d+$/);
    await response.text();
  });
});
