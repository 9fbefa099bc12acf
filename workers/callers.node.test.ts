// Who may call, over the whole edge. The origin here makes no media; test/ has calls with real transceivers.
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { UnsecuredJWT } from 'jose';
import * as v from 'valibot';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { CallIdCodec } from '../protocol/call-id.ts';
import { parseRoutingKeys } from '../protocol/routing-keys.ts';
import { hashApiKey } from './api-keys.ts';
import { ClientSecrets, parseClientSecretKeys } from './client-secrets.ts';
import { CLUSTER, OFFER, openCallStage, willing, type CallStage } from './testing/call-stage.ts';
import { MAX_PROBLEMS } from './signal/conversation.ts';
import { CLIENT_SECRET_KEYS, ROUTING_KEYS } from './testing/local-edge.ts';

/** What tests of calls per minute exhaust, each that of its own tenant. */
const CALLS_PER_MINUTE = 60;

const apiKeyOf = (name: string) => `sk_${name}_${randomBytes(32).toString('base64url')}`;
const acmeKey = apiKeyOf('acme');
const acmeOldKey = apiKeyOf('acme');
const rivalKey = apiKeyOf('rival');
const strictKey = apiKeyOf('strict');
const busyKey = apiKeyOf('busy');
const chattyKey = apiKeyOf('chatty');

const Told = v.object({ problem: v.object({ type: v.string() }) });

const secrets = new ClientSecrets(parseClientSecretKeys(CLIENT_SECRET_KEYS));
const callIds = new CallIdCodec(parseRoutingKeys(ROUTING_KEYS));

const tenant = (...keys: string[]) => ({ keys: keys.map(hashApiKey), callsPerMinute: 6000 });

let stage: CallStage;

beforeAll(async () => {
  stage = await openCallStage();
  stage.origin.behave(willing);
  await stage.edge.putTenant('acme', tenant(acmeKey, acmeOldKey));
  await stage.edge.putTenant('rival', tenant(rivalKey));
  await stage.edge.putTenant('strict', {
    ...tenant(strictKey),
    origins: ['https://good.test'],
  });
  await stage.edge.putTenant('busy', { ...tenant(busyKey), callsPerMinute: CALLS_PER_MINUTE });
  await stage.edge.putTenant('chatty', { ...tenant(chattyKey), callsPerMinute: CALLS_PER_MINUTE });
  await stage.edge.putTenant('broken', { keys: ['not a hash'], callsPerMinute: 6000 });
}, 60_000);
afterAll(() => stage.close());

function call(authorization: string | undefined, headers: Record<string, string> = {}) {
  return stage.edge.fetch('/v1/calls', {
    method: 'POST',
    body: OFFER,
    headers: {
      'content-type': 'application/sdp',
      ...(authorization === undefined ? {} : { authorization }),
      ...headers,
    },
  });
}

type Answer = Awaited<ReturnType<typeof call>>;

async function expectProblem(
  response: Answer,
  status: number,
  name: string,
  detail: string,
  challenge = status === 401 ? 'Bearer error="invalid_token"' : null,
) {
  const body = await response.json();
  expect(body).toMatchObject({
    type: `urn:global-relay:problem:${name}`,
    status,
    detail: expect.stringContaining(detail),
  });
  expect(response.status).toBe(status);
  expect(response.headers.get('www-authenticate')).toBe(challenge);
}

async function locationOf(authorization: string): Promise<string> {
  const response = await call(authorization);
  expect(response.status).toBe(201);
  await response.text();
  return response.headers.get('location')!;
}

function change(method: string, location: string, authorization: string) {
  return stage.edge.fetch(location, { method, headers: { authorization } });
}

/** A secret of this service's that expired so many seconds ago. */
async function expired(secondsAgo: number): Promise<string> {
  const realNow = Date.now;
  try {
    Date.now = () => realNow() - (60 + secondsAgo) * 1000;
    const { value } = await secrets.mint('acme', 60);
    return `Bearer ${value}`;
  } finally {
    Date.now = realNow;
  }
}

describe('a call', () => {
  it.each([
    ['an API key', async () => `Bearer ${acmeKey}`],
    ['an API key that is being replaced', async () => `Bearer ${acmeOldKey}`],
    ['a client secret', async () => `Bearer ${(await secrets.mint('acme')).value}`],
    ['a scheme in small letters', async () => `bearer ${acmeKey}`],
  ])('by %s is its tenant’s', async (_, authorization) => {
    const location = await locationOf(await authorization());
    expect(callIds.open(location.replace('/v1/calls/', ''))).toMatchObject({ tenant: 'acme' });
  });

  it('by nobody in particular is the public tenant’s, whose key nobody has', async () => {
    const response = await call(undefined);
    const location = response.headers.get('location')!;
    await response.text();
    expect(callIds.open(location.replace('/v1/calls/', ''))).toMatchObject({ tenant: 'public' });
    await expectProblem(await call(`Bearer ${apiKeyOf('public')}`), 401, 'unauthorized', 'key');
  });

  const unsecured = `ek_${new UnsecuredJWT({}).setSubject('acme').setAudience('calls').encode()}`;

  it.each([
    ['nothing after the scheme', 'Bearer', 'Bearer token', 'Bearer'],
    ['another scheme', 'Basic YTpi', 'Bearer token', 'Bearer'],
    ['two tokens', 'Bearer a b', 'Bearer token'],
    ['what is no credential', 'Bearer abc', 'begins with'],
    ['an API key of no tenant', `Bearer ${apiKeyOf('nobody')}`, 'not one of those in use'],
    ['a key that was never given out', `Bearer ${apiKeyOf('acme')}`, 'not one of those in use'],
    ['a key under another name', `Bearer ${rivalKey.replace('rival', 'acme')}`, 'not one of'],
    ['a hash for a key', `Bearer sk_acme_${hashApiKey(acmeKey).slice(0, 43)}`, 'not one of'],
    ['a secret that is none', 'Bearer ek_a.b.c', 'not made by this service'],
    ['an unsigned secret', `Bearer ${unsecured}`, 'a key that is not in use'],
    ['a header that is too long', `Bearer ${'a'.repeat(10_000)}`, 'at most'],
  ])('with %s is refused', async (_, authorization, detail, challenge?: string) => {
    stage.origin.behave(willing);
    await expectProblem(await call(authorization), 401, 'unauthorized', detail, challenge);
    expect(stage.origin.requests).toEqual([]);
  });

  it('with a secret of another service, or of a tenant that is gone, is refused', async () => {
    const foreign = new ClientSecrets([{ id: 'T', key: randomBytes(32) }]);
    const { value } = await foreign.mint('acme');
    await expectProblem(await call(`Bearer ${value}`), 401, 'unauthorized', 'not made by this');
    const gone = await secrets.mint('gone');
    expect(gone.value).toMatch(/^ek_/);
    await expectProblem(await call(`Bearer ${gone.value}`), 401, 'unauthorized', 'is gone');
  });

  it('of a tenant whose configuration is broken fails, and the log says how to mend it', async () => {
    const response = await call(`Bearer ${apiKeyOf('broken')}`);
    await expectProblem(response, 500, 'internal', 'logged');
    expect(stage.edge.logs()).toContain('wrangler kv key put --binding TENANTS broken');
  });

  it('starts not with a secret that has expired, but can still be ended with it', async () => {
    const authorization = await expired(60);
    await expectProblem(await call(authorization), 401, 'unauthorized', 'it has expired');
    const location = await locationOf(`Bearer ${acmeKey}`);
    expect((await change('DELETE', location, authorization)).status).toBe(200);
    const tooOld = await change('DELETE', location, await expired(3 * 60 * 60));
    await expectProblem(tooOld, 401, 'unauthorized', 'it has expired');
  });

  it('of one tenant is none for another, whatever is asked', async () => {
    const location = await locationOf(`Bearer ${acmeKey}`);
    stage.origin.behave(willing);
    const rival = `Bearer ${(await secrets.mint('rival')).value}`;
    for (const method of ['GET', 'DELETE']) {
      await expectProblem(await change(method, location, rival), 404, 'call-not-found', 'never');
    }
    const nobody = await stage.edge.fetch(location, { method: 'DELETE' });
    await expectProblem(nobody, 404, 'call-not-found', 'never');
    expect(stage.origin.requests).toEqual([]);
    expect((await change('GET', location, `Bearer ${acmeKey}`)).status).toBe(204);
    expect((await change('DELETE', location, `Bearer ${acmeKey}`)).status).toBe(200);
    const [ended] = stage.origin.requests;
    expect(ended!.claims).toMatchObject({ op: 'end', tenant: 'acme' });
    expect(callIds.open(location.replace('/v1/calls/', ''))).toMatchObject({ cluster: CLUSTER });
  });
});

describe('a tenant that names origins', () => {
  const authorization = `Bearer ${strictKey}`;

  it('takes calls from their pages, and from what is no page', async () => {
    const response = await call(authorization, { origin: 'https://good.test' });
    expect(response.status).toBe(201);
    await response.text();
    expect(response.headers.get('access-control-allow-origin')).toBe('https://good.test');
    expect(response.headers.get('vary')?.toLowerCase()).toContain('origin');
    const server = await call(authorization);
    expect(server.status).toBe(201);
    await server.text();
  });

  it.each(['https://evil.test', 'https://good.test.evil.test', 'http://good.test', 'null'])(
    'takes none from %s',
    async (origin) => {
      stage.origin.behave(willing);
      const response = await call(authorization, { origin });
      await expectProblem(response, 403, 'forbidden', `pages of ${origin}`);
      expect(stage.origin.requests).toEqual([]);
    },
  );
});

const mint = (headers: Record<string, string>) =>
  stage.edge.fetch('/v1/realtime/client_secrets', { method: 'POST', headers });

describe('POST /v1/realtime/client_secrets', () => {
  it('gives the holder of an API key a secret that starts calls', async () => {
    const response = await mint({ authorization: `Bearer ${acmeKey}` });
    expect(response.status).toBe(200);
    const { value } = v.parse(v.object({ value: v.string() }), await response.json());
    const location = await locationOf(`Bearer ${value}`);
    expect(callIds.open(location.replace('/v1/calls/', ''))).toMatchObject({ tenant: 'acme' });
  });

  it('gives none for a secret, nor for nothing', async () => {
    const { value } = await secrets.mint('acme');
    const bySecret = await mint({ authorization: `Bearer ${value}` });
    expect(bySecret.status).toBe(403);
    await bySecret.text();
    const byNothing = await mint({});
    expect(byNothing.status).toBe(401);
    await byNothing.text();
  });
});

const open = (protocols: string[], origin?: string) =>
  new WebSocket(
    `${stage.edge.url.replace('http', 'ws')}/v1/signal`,
    protocols,
    origin === undefined ? {} : { origin },
  );

describe('a WebSocket of a browser', () => {
  it('shows a client secret as a protocol, and gets the other one', async () => {
    const { value } = await secrets.mint('acme');
    const socket = open([`bearer.${value}`, 'global-relay']);
    await once(socket, 'open');
    expect(socket.protocol).toBe('global-relay');
    socket.close();
    await once(socket, 'close');
  });

  it('is refused with one that is not good', async () => {
    const socket = open(['global-relay', 'bearer.ek_a.b.c']);
    const [error] = await once(socket, 'error');
    expect(String(error)).toContain('401');
  });

  it('is refused where a page shows a secret of a tenant that does not name its origin', async () => {
    const { value } = await secrets.mint('strict');
    const protocols = [`bearer.${value}`, 'global-relay'];
    const socket = open(protocols, 'https://evil.test');
    const [error] = await once(socket, 'error');
    expect(String(error)).toContain('403');
    const named = open(protocols, 'https://good.test');
    await once(named, 'open');
    named.terminate();
  });
});

it('counts each offer by WebSocket, and connections not at all', async () => {
  const headers = { authorization: `Bearer ${chattyKey}` };
  const names: string[] = [];
  // A connection takes few bad offers, and a minute may end meanwhile.
  while (!names.includes('too-many-calls') && names.length < 10 * CALLS_PER_MINUTE) {
    const socket = new WebSocket(`${stage.edge.url.replace('http', 'ws')}/v1/signal`, { headers });
    await once(socket, 'open');
    for (let i = 1; i < MAX_PROBLEMS && !names.includes('too-many-calls'); i++) {
      socket.send(JSON.stringify({ type: 'offer', sdp: 'hello' }));
      const [data] = await once(socket, 'message');
      const { problem } = v.parse(Told, JSON.parse(String(data)));
      names.push(problem.type.replace('urn:global-relay:problem:', ''));
    }
    socket.terminate();
  }
  expect(names.at(-1)).toBe('too-many-calls');
  expect(names.length).toBeGreaterThan(CALLS_PER_MINUTE);
  const socket = new WebSocket(`${stage.edge.url.replace('http', 'ws')}/v1/signal`, { headers });
  await once(socket, 'open');
  socket.terminate();
});

it('a tenant that starts too many calls waits, and no other does', async () => {
  let response = await call(`Bearer ${busyKey}`);
  let taken = 0;
  // Minutes may end meanwhile, so it is not always the same one that is refused.
  for (; response.status === 201 && taken < 10 * CALLS_PER_MINUTE; taken++) {
    await response.text();
    response = await call(`Bearer ${busyKey}`);
  }
  expect(taken).toBeGreaterThanOrEqual(CALLS_PER_MINUTE);
  expect(response.headers.get('retry-after')).toBe('60');
  await expectProblem(response, 429, 'too-many-calls', '60 calls per minute');
  await locationOf(`Bearer ${acmeKey}`);
});
