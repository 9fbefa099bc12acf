// Keys are replaced while calls go on: edges and origins that are a step apart, as a deployment has them.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { CallIdCodec } from '../protocol/call-id.ts';
import { parseRoutingKeys } from '../protocol/routing-keys.ts';
import { parseSigningKeys } from '../protocol/signature.ts';
import { UfragCodec } from '../protocol/ufrag.ts';
import { hashApiKey } from './api-keys.ts';
import { ClientSecrets, parseClientSecretKeys } from './client-secrets.ts';
import { CLUSTER, OFFER, TRANSCEIVER, willing } from './testing/call-stage.ts';
import {
  CLIENT_SECRET_KEYS,
  ROUTING_KEYS,
  SIGNING_KEY,
  startLocalEdge,
  type LocalEdge,
} from './testing/local-edge.ts';
import { startSignedOrigin, type SignedOrigin } from './testing/signed-origin.ts';
import { testTable } from './testing/steering-table.ts';

const NEW_ROUTING = `N:${Buffer.alloc(16, 'new').toString('base64')}`;
const NEW_SIGNING = Buffer.alloc(32, 'new').toString('base64');
const NEW_SECRETS = `N:${Buffer.alloc(32, 'new').toString('base64')}`;

const before = {
  ROUTING_KEYS,
  SIGNING_KEY,
  CLIENT_SECRET_KEYS,
};
const during = {
  ROUTING_KEYS: `${NEW_ROUTING},${ROUTING_KEYS}`,
  SIGNING_KEY: `${NEW_SIGNING},${SIGNING_KEY}`,
  CLIENT_SECRET_KEYS: `${NEW_SECRETS},${CLIENT_SECRET_KEYS}`,
};

/** A tenant with no key at all: its clients have secrets alone. */
const TENANT = { keys: [hashApiKey('none')], callsPerMinute: 6000 };

let origin: SignedOrigin;
let oldEdge: LocalEdge;
let newEdge: LocalEdge;

/** What relays have been given before any edge was: both keys, the old one first. */
const relayUfrags = new UfragCodec(parseRoutingKeys(`${ROUTING_KEYS},${NEW_ROUTING}`));

beforeAll(async () => {
  origin = await startSignedOrigin(parseSigningKeys(`${SIGNING_KEY},${NEW_SIGNING}`), CLUSTER);
  origin.behave(willing);
  const table = JSON.stringify(testTable({ [CLUSTER]: { signaling: origin.url } }));
  oldEdge = await startLocalEdge(table, before);
  newEdge = await startLocalEdge(table, during);
  const report = { transceiver: TRANSCEIVER, sessions: 0, capacity: 10, draining: false };
  for (const edge of [oldEdge, newEdge]) {
    await edge.putTenant('acme', TENANT);
    // Transceivers join with the old key, at an edge that has the new one already as well.
    await edge.join(CLUSTER, report);
  }
}, 120_000);
afterAll(async () => {
  await Promise.all([oldEdge?.close(), newEdge?.close(), origin?.close()]);
});

async function start(
  edge: LocalEdge,
  secret: string,
): Promise<{ location: string; ufrag: string }> {
  origin.behave(willing);
  const response = await edge.fetch('/v1/calls', {
    method: 'POST',
    body: OFFER,
    headers: { 'content-type': 'application/sdp', authorization: `Bearer ${secret}` },
  });
  expect(response.status).toBe(201);
  await response.text();
  const { claims } = origin.requests[0]!;
  if (claims.op !== 'create') throw new Error(`the origin was asked to ${claims.op}`);
  return { location: response.headers.get('location')!, ufrag: claims.ufrag };
}

it('a call of before is restarted and ended by an edge with the new keys', async () => {
  const secrets = new ClientSecrets(parseClientSecretKeys(CLIENT_SECRET_KEYS));
  const { value } = await secrets.mint('acme');
  const { location, ufrag } = await start(oldEdge, value);
  expect(ufrag[0]).toBe('T');
  const authorization = `Bearer ${value}`;

  const restarted = await newEdge.fetch(location, {
    method: 'PATCH',
    body: 'a=ice-ufrag:qYcw\r\na=ice-pwd:9KgWRQkJ4Pj0Zn3v6y6cM3QhL\r\n',
    headers: {
      'content-type': 'application/trickle-ice-sdpfrag',
      'if-match': '*',
      authorization,
    },
  });
  expect(restarted.status).toBe(200);
  await restarted.text();
  const { claims } = origin.requests.at(-1)!;
  if (claims.op !== 'restart') throw new Error(`the origin was asked to ${claims.op}`);
  expect(claims.ufrag[0]).toBe('N');
  for (const text of [ufrag, claims.ufrag]) {
    const opened = relayUfrags.open(Buffer.from(text), Date.now());
    expect(opened).toMatchObject({
      ok: true,
      route: { cluster: CLUSTER, transceiver: TRANSCEIVER },
    });
  }
  const ended = await newEdge.fetch(location, { method: 'DELETE', headers: { authorization } });
  expect(ended.status).toBe(200);
});

it('a call of after is one for edges that have only the new keys, and for no others', async () => {
  const secrets = new ClientSecrets(parseClientSecretKeys(during.CLIENT_SECRET_KEYS));
  const { value } = await secrets.mint('acme');
  const { location, ufrag } = await start(newEdge, value);
  expect(ufrag[0]).toBe('N');
  const id = location.replace('/v1/calls/', '');
  const after = new CallIdCodec(parseRoutingKeys(NEW_ROUTING));
  expect(after.open(id)).toMatchObject({ cluster: CLUSTER, tenant: 'acme' });
  const authorization = `Bearer ${value}`;
  const tooEarly = await oldEdge.fetch(location, { method: 'DELETE', headers: { authorization } });
  expect(tooEarly.status).toBe(401);
  await tooEarly.text();
  const ended = await newEdge.fetch(location, { method: 'DELETE', headers: { authorization } });
  expect(ended.status).toBe(200);
});
