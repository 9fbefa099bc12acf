import { createExecutionContext, waitOnExecutionContext } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { newCall } from '../protocol/call-id.ts';
import { testTable } from './testing/steering-table.ts';
import { hashApiKey } from './api-keys.ts';
import { app } from './app.ts';
import { edgeKeys } from './keys.ts';

const HOUR = 60 * 60 * 1000;

/** Of a tenant of its own, whose calls are counted. */
const KEY = `sk_leaving_${'k'.repeat(43)}`;
const HEADERS = { authorization: `Bearer ${KEY}`, 'content-type': 'application/sdp' };

beforeAll(async () => {
  // What the isolate keeps of this is old for the tests that share it.
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() - HOUR });
  const tenant = { keys: [hashApiKey(KEY)], callsPerMinute: 6000, concurrentCalls: 5 };
  await env.TENANTS.put('leaving', JSON.stringify(tenant));
  await env.FOOTPRINT.put('steering', JSON.stringify(testTable()));
});

afterAll(() => void vi.useRealTimers());

/** The answer, and what comes of all that goes on when a client leaves. */
async function ask(path: string, init: RequestInit) {
  const request = new Request(`https://edge.test${path}`, { ...init, headers: HEADERS });
  const context = createExecutionContext();
  const kept = vi.spyOn(context, 'waitUntil');
  const response = await app.fetch(request, env, context);
  await response.text();
  await waitOnExecutionContext(context);
  return { response, goneOn: await Promise.all(kept.mock.calls.map(([work]) => work)) };
}

// The tools by which workerd runs here tell it of no client that leaves; it drops all but what waits for this.
it('a call that is being placed gives its place back, or is placed, when its client leaves', async () => {
  const { response, goneOn } = await ask('/v1/calls', { method: 'POST', body: 'v=0\r\n' });
  expect(goneOn).toContainEqual(expect.objectContaining({ status: response.status }));
});

it('a call that is being ended ends when its client leaves', async () => {
  const ref = { cluster: 2, transceiver: 1, call: newCall(), tenant: 'leaving' };
  const id = await edgeKeys(env).callIds.seal(ref);
  const { response, goneOn } = await ask(`/v1/calls/${id}`, { method: 'DELETE' });
  expect(response.status).toBe(502);
  expect(goneOn).toContainEqual({ outcome: 'lost', detail: expect.any(String) });
});
