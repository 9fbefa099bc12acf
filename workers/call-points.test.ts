// What is written to Analytics Engine cannot be read here, so a data set that remembers stands in for it.
import { createExecutionContext, waitOnExecutionContext } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { app } from './app.ts';
import { testTable } from './testing/steering-table.ts';

const HOUR = 60 * 60 * 1000;
const ID = 'request-of-this-test';
const SDP = { 'content-type': 'application/sdp' };
const CF = { colo: 'FRA', country: 'DE', latitude: '50.11', longitude: '8.68' };

const points: AnalyticsEngineDataPoint[] = [];
const observed = {
  ...env,
  CALL_POINTS: { writeDataPoint: (point: AnalyticsEngineDataPoint) => void points.push(point) },
};

beforeAll(async () => {
  // What the isolate keeps of this is old for the tests that share it.
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() - HOUR });
  await env.TENANTS.put('public', JSON.stringify({ keys: [], callsPerMinute: 6000 }));
  await env.FOOTPRINT.put('steering', JSON.stringify(testTable()));
});
afterAll(() => void vi.useRealTimers());
beforeEach(() => {
  points.length = 0;
  vi.spyOn(console, 'log').mockReturnValue();
  vi.spyOn(console, 'warn').mockReturnValue();
});
afterEach(() => void vi.restoreAllMocks());

async function ask(method: string, path: string, init: RequestInit = {}): Promise<Response> {
  const headers = new Headers(init.headers);
  headers.set('x-request-id', ID);
  const request = new Request(`https://edge.test${path}`, { ...init, method, headers, cf: CF });
  const context = createExecutionContext();
  const response = await app.fetch(request, observed, context);
  await waitOnExecutionContext(context);
  return response;
}

/** Of a call that was not placed. @param basis Of its steering, if it came to that. */
const aPoint = (route: string, status: number, basis = '') => ({
  indexes: ['public'],
  blobs: [route, String(status), 'FRA', 'DE', '', expect.any(String), ID, '', '', basis],
  doubles: expect.any(Array),
});

it.each(['/v1/calls', '/whip', '/v1/realtime/calls'])('an offer to %s is a point', async (path) => {
  const body = 'v=0\r\nm=audio 9 X 1\r\n';
  const response = await ask('POST', path, { headers: SDP, body });
  await response.text();
  expect(response.status).toBeGreaterThanOrEqual(500);
  expect(points).toEqual([aPoint(path, response.status, 'coordinates')]);
  const [, steer, roster] = points[0]!.doubles!;
  expect(steer).toBeGreaterThanOrEqual(0);
  expect(roster).toBeGreaterThanOrEqual(0);
});

it.each(['/v1/calls', '/whip', '/v1/realtime/calls'])(
  'an offer to %s that is none is a point as well',
  async (path) => {
    const response = await ask('POST', path, { headers: SDP, body: 'hello' });
    await response.text();
    expect(points).toEqual([aPoint(path, 400)]);
  },
);

it('every offer by WebSocket is a point, and nothing else that is said', async () => {
  const response = await ask('GET', '/v1/signal', { headers: { upgrade: 'websocket' } });
  const socket = response.webSocket!;
  const heard: string[] = [];
  socket.addEventListener('message', ({ data }) => void heard.push(String(data)));
  socket.accept();
  for (const message of [{ type: 'bye' }, { type: 'offer', sdp: 'hello' }, { type: 'nothing' }]) {
    socket.send(JSON.stringify(message));
  }
  await vi.waitFor(() => expect(heard).toHaveLength(3));
  socket.close();
  expect(points).toEqual([aPoint('/v1/signal', 400)]);
});

it.each([
  ['GET', '/v1/calls'],
  ['POST', '/v1/realtime/calls/rtc_x/hangup'],
  ['POST', '/v1/realtime/client_secrets'],
  ['POST', '/nothing'],
  ['PUT', '/v1/calls'],
  ['DELETE', '/v1/calls/x'],
])('%s %s asks for no call', async (method, path) => {
  await (await ask(method, path)).text();
  expect(points).toEqual([]);
});
