// The origin here speaks the signed contract and makes no media.
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { parseSigningKey } from '../protocol/signature.ts';
import { SIGNING_KEY, startLocalEdge, type LocalEdge } from './testing/local-edge.ts';
import { startSignedOrigin, type Behavior, type SignedOrigin } from './testing/signed-origin.ts';
import { testTable } from './testing/steering-table.ts';

const created: Behavior = () => ({
  status: 201,
  headers: { 'content-type': 'application/sdp' },
  body: 'v=0\r\n',
});
const busy: Behavior = () => ({ status: 503 });

/** Behaves so for calls, and takes every order to end one. */
const forCalls =
  (behavior: Behavior): Behavior =>
  (request) =>
    request.claims.op === 'end' ? { status: 200 } : behavior(request);

let edge: LocalEdge;
/** Of clusters 1 and 2. */
let origins: [SignedOrigin, SignedOrigin];

beforeAll(async () => {
  const key = parseSigningKey(SIGNING_KEY);
  origins = await Promise.all([startSignedOrigin(key, 1), startSignedOrigin(key, 2)]);
  const [one, two] = origins.map(({ url }) => ({ signaling: url }));
  edge = await startLocalEdge(JSON.stringify(testTable({ 1: one!, 2: two! })));
  const report = { sessions: 0, capacity: 10, draining: false };
  await edge.join(1, { ...report, transceiver: 11 });
  await edge.join(2, { ...report, transceiver: 21 });
});
afterAll(async () => {
  await edge.close();
  await Promise.all(origins.map((origin) => origin.close()));
});
beforeEach(async () => {
  // Clusters that failed in the test before are trusted again once they answer, and be it with no.
  for (const origin of origins) origin.behave(busy);
  await (await call()).text();
  for (const origin of origins) origin.behave(created);
});

function call() {
  return edge.fetch('/v1/calls', {
    method: 'POST',
    body: 'v=0\r\n',
    headers: { 'content-type': 'application/sdp' },
    cf: { colo: 'FRA', latitude: '50.11', longitude: '8.68' },
  });
}

const asked = (origin: SignedOrigin, op: 'create' | 'end') =>
  origin.requests.map(({ claims }) => claims).filter((claims) => claims.op === op);
const callsOf = (origin: SignedOrigin, op: 'create' | 'end') =>
  asked(origin, op).map((claims) => claims.call);

describe('a try that was given up', () => {
  it('leaves no session behind, even one that is made late', async () => {
    let ends = 0;
    origins[1].behave((request) => {
      if (request.claims.op === 'create') return 'never';
      // The first order comes before the session is there.
      return { status: ends++ === 0 ? 404 : 200 };
    });
    const response = await call();
    expect(response.headers.get('relay-path')).toContain('cluster="us-east-1"');
    await response.text();
    const [tried] = callsOf(origins[1], 'create');
    await vi.waitFor(() => expect(callsOf(origins[1], 'end')).toEqual([tried, tried]), {
      timeout: 30_000,
    });
    await vi.waitFor(() => expect(edge.logs()).toContain('an orphan was ended'));
  });

  it('is not ended where the origin itself said no', async () => {
    origins[1].behave(forCalls(busy));
    const response = await call();
    expect(response.status).toBe(201);
    await response.text();
    // Whatever was sent in the background would come before the next call.
    await (await call()).text();
    expect(callsOf(origins[1], 'end')).toEqual([]);
  });
});
