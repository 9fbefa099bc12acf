// The harness of wrangler fetches by way of Node, which turns a broken connection into a 500; this is workerd alone.
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { startEdge, type Edge } from '../local/edge.ts';
import { choosePorts } from '../local/ports.ts';
import { LOCAL_TENANTS } from '../local/tenants.ts';
import type { WebSocket } from 'ws';
import { parseSigningKey } from '../protocol/signature.ts';
import { CLIENT_SECRET_KEYS, joinRoster, ROUTING_KEYS, SIGNING_KEY } from './testing/local-edge.ts';
import { startSignedOrigin, type Behavior, type SignedOrigin } from './testing/signed-origin.ts';
import { testTable } from './testing/steering-table.ts';
import { MAX_TRIES } from './tries.ts';

const created: Behavior = () => ({
  status: 201,
  headers: { 'content-type': 'application/sdp' },
  body: 'v=0\r\n',
});

/** Behaves so for calls, and takes every order to end one. */
const forCalls =
  (behavior: Behavior): Behavior =>
  (request) =>
    request.claims.op === 'end' ? { status: 200 } : behavior(request);

let edge: Edge;
/** Of clusters 1 and 2. */
let origins: [SignedOrigin, SignedOrigin];
const links: WebSocket[] = [];

beforeAll(async () => {
  const key = parseSigningKey(SIGNING_KEY);
  origins = await Promise.all([startSignedOrigin(key, 1), startSignedOrigin(key, 2)]);
  const [one, two] = origins.map(({ url }) => ({ signaling: url }));
  const { edge: port } = await choosePorts({ edge: { protocol: 'tcp' } });
  const options = {
    configPath: fileURLToPath(new URL('../wrangler.toml', import.meta.url).href),
    port: port!,
    secrets: { ROUTING_KEYS, SIGNING_KEY, CLIENT_SECRET_KEYS },
    steering: testTable({ 1: one!, 2: two! }),
    tenants: LOCAL_TENANTS,
  };
  edge = await startEdge(options, () => undefined);
  const report = { sessions: 0, capacity: 10, draining: false };
  links.push(await joinRoster(edge.url, 1, { ...report, transceiver: 11 }));
  links.push(await joinRoster(edge.url, 2, { ...report, transceiver: 21 }));
});
afterAll(async () => {
  for (const link of links) link.terminate();
  await edge.close();
  await Promise.all(origins.map((origin) => origin.close()));
});
beforeEach(async () => {
  // Clusters that failed in the test before are trusted again once they answer, and be it with no.
  for (const origin of origins) origin.behave(() => ({ status: 503 }));
  await (await call()).text();
  for (const origin of origins) origin.behave(forCalls(created));
});

function call(): Promise<Response> {
  const cf = { colo: 'FRA', latitude: '50.11', longitude: '8.68' };
  return fetch(`${edge.url}/v1/calls`, {
    method: 'POST',
    body: 'v=0\r\n',
    headers: { 'content-type': 'application/sdp', 'mf-cf-blob': JSON.stringify(cf) },
  });
}

const callsOf = (origin: SignedOrigin, op: 'create' | 'end') =>
  origin.requests.filter(({ claims }) => claims.op === op).map(({ claims }) => claims.call);

it('a connection that breaks is tried again once at the same transceiver, under another name, and leaves no session', async () => {
  let cut = 0;
  origins[1].behave(forCalls((request) => (cut++ === 0 ? 'cut' : created(request))));
  const response = await call();
  expect(response.status).toBe(201);
  expect(response.headers.get('relay-path')).toContain('transceiver=21');
  await response.text();
  const [first, second, ...more] = callsOf(origins[1], 'create');
  expect(more).toEqual([]);
  expect(second).not.toBe(first);
  await vi.waitFor(() => expect(callsOf(origins[1], 'end')).toEqual([first]));
});

it('a connection that breaks is given up for the next cluster when it breaks again', async () => {
  origins[1].behave(forCalls(() => 'cut'));
  const response = await call();
  expect(response.status).toBe(201);
  expect(response.headers.get('relay-path')).toContain('cluster="us-east-1"');
  await response.text();
  const tried = callsOf(origins[1], 'create');
  expect(tried).toHaveLength(2);
  await vi.waitFor(() => expect(callsOf(origins[1], 'end').toSorted()).toEqual(tried.toSorted()));
  expect(callsOf(origins[0], 'end')).toEqual([]);
});

it('a connection that breaks counts among the tries', async () => {
  for (const origin of origins) origin.behave(forCalls(() => 'cut'));
  const response = await call();
  expect(response.status).toBe(502);
  await response.text();
  expect(origins.flatMap((origin) => callsOf(origin, 'create'))).toHaveLength(MAX_TRIES);
});
