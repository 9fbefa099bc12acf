// Origins that answer otherwise than a transceiver does. What they say reaches no client, and costs no more than a try.
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { openBareStage, type BareStage } from './testing/bare-stage.ts';
import { OFFER, willing } from './testing/call-stage.ts';
import type { Behavior } from './testing/signed-origin.ts';

let stage: BareStage;

beforeAll(async () => {
  stage = await openBareStage();
});
afterAll(() => stage?.close());
beforeEach(() => {
  for (const origin of stage.origins) origin.behave(willing);
});

const place = () =>
  stage.ask('POST', '/v1/calls', { headers: { 'content-type': 'application/sdp' }, body: OFFER });

const SDP = { 'content-type': 'application/sdp' };
const PROBLEM = { 'content-type': 'application/problem+json' };
const secret = 'postgres://user:password@10.1.0.5';

const hostile: readonly (readonly [string, Behavior])[] = [
  ['SDP without end', ({ claims }) => (claims.op === 'create' ? 'endless' : { status: 200 })],
  ['SDP that is too long', () => ({ status: 201, headers: SDP, body: `v=0${'x'.repeat(65_536)}` })],
  ['a page', () => ({ status: 201, headers: { 'content-type': 'text/html' }, body: secret })],
  ['a permanent redirect', () => ({ status: 301, headers: { location: 'http://10.1.0.5/' } })],
  ['a redirect', () => ({ status: 302, headers: { location: 'http://10.1.0.5/' } })],
  ['another redirect', () => ({ status: 307, headers: { location: 'http://10.1.0.5/' } })],
  ['a fault in words', () => ({ status: 500, body: secret })],
  [
    'a problem of another service',
    () => ({ status: 400, headers: PROBLEM, body: JSON.stringify({ type: 'x', detail: secret }) }),
  ],
  ['a problem that is none', () => ({ status: 400, headers: PROBLEM, body: `[${secret}` })],
];

it.each(hostile)('%s leads to another cluster', async (_, behavior) => {
  const [other, home] = stage.origins;
  home.behave(behavior);
  const response = await place();
  expect(response.status).toBe(201);
  expect(response.headers.get('relay-path')).toContain('cluster="us-east-1"');
  await response.text();
  expect(other.requests.map(({ claims }) => claims.op)).toEqual(['create']);
  // Trusted again for the next test once it answers, and be it with no.
  home.behave(() => ({ status: 503 }));
  other.behave(() => ({ status: 503 }));
  await (await place()).text();
});

it.each(hostile)('%s is a 502 without a word of it when all answer so', async (_, behavior) => {
  for (const origin of stage.origins) origin.behave(behavior);
  const response = await place();
  expect(response.status).toBe(502);
  expect(response.headers.get('location')).toBeNull();
  expect(await response.json()).toEqual({
    type: 'urn:global-relay:problem:bad-gateway',
    title: 'The cluster gave an answer that makes no sense',
    status: 502,
    detail: 'The cluster cannot be reached as it should; try again.',
  });
});
