import { afterEach, expect, it } from 'vitest';
import { SIGNING_KEY, startLocalEdge, type LocalEdge } from './testing/local-edge.ts';
import { testTable } from './testing/steering-table.ts';

const TABLE = JSON.stringify(testTable());

/** Milliseconds for starting workerd on a busy machine. */
const START = { timeout: 60_000 };

let edge: LocalEdge;
afterEach(() => edge.close());

function call() {
  const headers = { 'content-type': 'application/sdp' };
  return edge.fetch('/v1/calls', { method: 'POST', body: 'v=0\r\n', headers });
}

async function expectProblem(response: Awaited<ReturnType<typeof call>>, name: string) {
  expect(response.headers.get('content-type')).toBe('application/problem+json');
  expect(response.headers.get('x-request-id')).toMatch(/./);
  const text = await response.text();
  expect(JSON.parse(text)).toMatchObject({ type: `urn:global-relay:problem:${name}` });
  return text;
}

it(
  'an edge without a good steering table turns calls away, and logs what to do',
  START,
  async () => {
    edge = await startLocalEdge(undefined);
    const none = await call();
    expect(none.status).toBe(503);
    expect(none.headers.get('retry-after')).toBe('5');
    await expectProblem(none, 'no-capacity');
    expect(edge.logs()).toContain('The steering table is missing from KV.');
    expect(edge.logs()).toContain('wrangler kv key put');

    await edge.putSteering('{"version":1');
    expect((await edge.fetch('/v1/where')).status).toBe(500);
    expect(edge.logs()).toContain('The steering table in KV is not JSON.');

    await edge.putSteering('{"version":1,"clusters":[]}');
    const malformed = await call();
    expect(malformed.status).toBe(500);
    await expectProblem(malformed, 'internal');
    expect(edge.logs()).toContain('The steering table in KV does not fit at clusters');
    expect((await edge.fetch('/healthz')).status).toBe(200);

    await edge.putSteering(TABLE);
    expect((await edge.fetch('/v1/where')).status).toBe(200);
  },
);

it(
  'an edge with a bad secret names it in its log alone, and shows its value nowhere',
  START,
  async () => {
    edge = await startLocalEdge(TABLE, { ROUTING_KEYS: 'my-secret', SIGNING_KEY });
    const response = await call();
    expect(response.status).toBe(500);
    const text = await expectProblem(response, 'internal');
    expect(text).not.toContain('ROUTING_KEYS');
    expect(edge.logs()).toContain('wrangler secret put ROUTING_KEYS');
    expect(text + edge.logs()).not.toContain('my-secret');
  },
);

it.each([
  ['draining', 'no region is active; us-east-1 is draining'],
  ['planned', 'every region is only planned'],
] as const)('an edge whose regions are all %s says so', START, async (state, reason) => {
  edge = await startLocalEdge(
    JSON.stringify(testTable({ 1: { state }, 2: { state }, 3: { state } })),
  );
  const response = await call();
  expect(response.status).toBe(503);
  expect(response.headers.get('retry-after')).toBe('60');
  const text = await expectProblem(response, 'no-capacity');
  expect(text).toContain(`No call can start: ${reason}.`);
  expect(text).not.toContain('moment');
});
