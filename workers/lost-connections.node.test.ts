// Connections to origins that break. The origins speak the signed contract and make no media.
import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { openBareStage, type BareStage } from './testing/bare-stage.ts';
import type { Behavior, SignedOrigin } from './testing/signed-origin.ts';
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

let stage: BareStage;
let origins: BareStage['origins'];

beforeAll(async () => {
  stage = await openBareStage();
  ({ origins } = stage);
});
afterAll(() => stage?.close());
beforeEach(async () => {
  // Clusters that failed in the test before are trusted again once they answer, and be it with no.
  for (const origin of origins) origin.behave(() => ({ status: 503 }));
  await (await call()).text();
  for (const origin of origins) origin.behave(forCalls(created));
});

const call = () =>
  stage.ask('POST', '/v1/calls', {
    body: 'v=0\r\n',
    headers: { 'content-type': 'application/sdp' },
  });

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
