// The origin speaks the signed contract and makes no media.
import { once } from 'node:events';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import * as v from 'valibot';
import { WebSocket } from 'ws';
import { CHANGES_PER_MINUTE } from './change-limit.ts';
import {
  FRAGMENT_TYPE,
  OFFER,
  openCallStage,
  willing,
  type CallStage,
} from './testing/call-stage.ts';

const FRAGMENT = 'a=ice-ufrag:qYcw\r\na=ice-pwd:9KgWRQkJ4Pj0Zn3v6y6cM3QhL\r\n';

/** A minute may end meanwhile. */
const ENOUGH = 3 * CHANGES_PER_MINUTE;

const Told = v.object({ type: v.string(), problem: v.optional(v.object({ type: v.string() })) });
const Problem = v.object({ type: v.string() });
const TOO_MANY = 'urn:global-relay:problem:too-many-changes';

let stage: CallStage;

beforeAll(async () => {
  stage = await openCallStage();
});
afterAll(() => stage?.close());
beforeEach(() => stage.origin.behave(willing));

const asked = (op: string) => stage.origin.requests.filter(({ claims }) => claims.op === op).length;

async function place(path = '/v1/calls'): Promise<string> {
  const headers = { 'content-type': 'application/sdp' };
  const response = await stage.edge.fetch(path, { method: 'POST', headers, body: OFFER });
  await response.text();
  return response.headers.get('location')!;
}

const restart = (location: string) =>
  stage.edge.fetch(location, {
    method: 'PATCH',
    headers: { 'content-type': FRAGMENT_TYPE, 'if-match': '*' },
    body: FRAGMENT,
  });

type Answer = Awaited<ReturnType<typeof restart>>;

/** The first that is refused. */
async function untilRefused(ask: () => Promise<Answer>): Promise<Answer> {
  let response = await ask();
  for (let i = 1; response.status !== 429 && i < ENOUGH; i++) {
    await response.text();
    response = await ask();
  }
  return response;
}

it('a call that is changed too often waits, but is ended, and no other waits', async () => {
  const location = await place();
  const response = await untilRefused(() => restart(location));
  expect(response.status).toBe(429);
  expect(response.headers.get('retry-after')).toBe('60');
  expect(v.parse(Problem, await response.json()).type).toBe(TOO_MANY);
  expect(asked('restart')).toBeGreaterThanOrEqual(CHANGES_PER_MINUTE);
  expect(asked('restart')).toBeLessThan(ENOUGH);
  expect((await stage.edge.fetch(location, { method: 'DELETE' })).status).toBe(200);
  const other = await restart(await place());
  expect(other.status).toBe(200);
  await other.text();
});

it('by WebSocket as well', async () => {
  const socket = new WebSocket(`${stage.edge.url.replace('http', 'ws')}/v1/signal`);
  await once(socket, 'open');
  const say = async (message: object) => {
    socket.send(JSON.stringify(message));
    const [data] = await once(socket, 'message');
    return v.parse(Told, JSON.parse(String(data)));
  };
  expect((await say({ type: 'offer', sdp: OFFER })).type).toBe('answer');
  let told = await say({ type: 'restart', sdp: OFFER });
  for (let i = 1; told.type === 'restarted' && i < ENOUGH; i++) {
    told = await say({ type: 'restart', sdp: OFFER });
  }
  expect(told.problem?.type).toBe(TOO_MANY);
  socket.terminate();
});

it.each([
  ['DELETE', '/v1/calls', ''],
  ['POST', '/v1/realtime/calls', '/hangup'],
])('a call that is ended too often by %s %s waits', async (method, path, end) => {
  const location = (await place(path)) + end;
  const response = await untilRefused(() => stage.edge.fetch(location, { method }));
  expect(response.status).toBe(429);
  await response.text();
  expect(asked('end')).toBeGreaterThanOrEqual(CHANGES_PER_MINUTE);
  expect(asked('end')).toBeLessThan(ENOUGH);
});
