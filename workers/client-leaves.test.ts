import { createExecutionContext, waitOnExecutionContext } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { newCall } from '../protocol/call-id.ts';
import { testTable } from './testing/steering-table.ts';
import { app } from './app.ts';
import { edgeKeys } from './keys.ts';

const HOUR = 60 * 60 * 1000;

beforeAll(async () => {
  // What the isolate keeps of this is old for the tests that share it.
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() - HOUR });
  await env.TENANTS.put('public', JSON.stringify({ keys: [], callsPerMinute: 6000 }));
  await env.FOOTPRINT.put('steering', JSON.stringify(testTable()));
});

afterAll(() => void vi.useRealTimers());

/** The answer, and what comes of all that goes on when a client leaves. */
async function ask(request: Request) {
  const context = createExecutionContext();
  const kept = vi.spyOn(context, 'waitUntil');
  const response = await app.fetch(request, env, context);
  await response.text();
  await waitOnExecutionContext(context);
  return { response, goneOn: await Promise.all(kept.mock.calls.map(([work]) => work)) };
}

// The tools by which workerd runs here tell it of no client that leaves; it drops all but what waits for this.
it('a call that is being placed is placed or given up when its client leaves', async () => {
  const headers = { 'content-type': 'application/sdp' };
  const body = 'v=0\r\n';
  const request = new Request('https://edge.test/v1/calls', { method: 'POST', headers, body });
  const { response, goneOn } = await ask(request);
  expect(goneOn).toContainEqual(expect.objectContaining({ status: response.status }));
});

it('a call that is being ended ends when its client leaves', async () => {
  const ref = { cluster: 2, transceiver: 1, call: newCall(), tenant: 'public' };
  const id = await edgeKeys(env).callIds.seal(ref);
  const request = new Request(`https://edge.test/v1/calls/${id}`, { method: 'DELETE' });
  const { response, goneOn } = await ask(request);
  expect(response.status).toBe(502);
  expect(goneOn).toContainEqual({ outcome: 'lost', detail: expect.any(String) });
});
