// A connection outlives what it was opened with. The origin makes no media.
import { once } from 'node:events';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { WebSocket } from 'ws';
import { MAX_FRAGMENT_BYTES } from '../../protocol/ice-fragment.ts';
import { ClientSecrets, parseClientSecretKeys } from '../client-secrets.ts';
import { OFFER, openCallStage, willing, type CallStage } from '../testing/call-stage.ts';
import { CLIENT_SECRET_KEYS } from '../testing/local-edge.ts';

/** Seconds a secret here lived, and since when it has expired. */
const LIFETIME = 60;
const EXPIRED_FOR = 600;

const secrets = new ClientSecrets(parseClientSecretKeys(CLIENT_SECRET_KEYS));

let stage: CallStage;
const sockets: WebSocket[] = [];

beforeAll(async () => {
  stage = await openCallStage();
  await stage.edge.putTenant('acme', { keys: [], callsPerMinute: 6000 });
});
afterAll(() => stage?.close());
beforeEach(() => stage.origin.behave(willing));
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.terminate();
});

async function expiredSecret(): Promise<string> {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() - (LIFETIME + EXPIRED_FOR) * 1000 });
  try {
    return (await secrets.mint('acme', LIFETIME)).value;
  } finally {
    vi.useRealTimers();
  }
}

async function open(secret: string): Promise<WebSocket> {
  const url = `${stage.edge.url.replace('http', 'ws')}/v1/signal`;
  const socket = new WebSocket(url, { headers: { authorization: `Bearer ${secret}` } });
  sockets.push(socket);
  await once(socket, 'open');
  return socket;
}

async function ask(socket: WebSocket, message: object): Promise<unknown> {
  socket.send(JSON.stringify(message));
  const [data] = await once(socket, 'message');
  return JSON.parse(String(data));
}

async function place(): Promise<string> {
  const socket = await open((await secrets.mint('acme')).value);
  const answer = await ask(socket, { type: 'offer', sdp: OFFER });
  expect(answer).toMatchObject({ type: 'answer', call: expect.any(String) });
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the line above shows what it is
  return (answer as { call: string }).call;
}

it('a client whose secret has expired takes its call up again, restarts its ICE and ends it', async () => {
  const call = await place();
  const socket = await open(await expiredSecret());
  expect(await ask(socket, { type: 'resume', call })).toEqual({ type: 'resumed', call });
  expect(await ask(socket, { type: 'restart', sdp: OFFER })).toMatchObject({ type: 'restarted' });
  expect(await ask(socket, { type: 'bye' })).toEqual({ type: 'bye' });
});

it('a client whose secret has expired starts no call', async () => {
  const socket = await open(await expiredSecret());
  expect(await ask(socket, { type: 'offer', sdp: OFFER })).toMatchObject({
    type: 'error',
    problem: { status: 401, detail: expect.stringContaining('expired') },
  });
  expect(stage.origin.requests).toEqual([]);
});

it('a restart with more than a fragment holds is refused, and asks nothing of the origin', async () => {
  const call = await place();
  const socket = await open((await secrets.mint('acme')).value);
  await ask(socket, { type: 'resume', call });
  stage.origin.behave(willing);
  const sdp = OFFER.replace('qYcw', 'q'.repeat(MAX_FRAGMENT_BYTES));
  expect(await ask(socket, { type: 'restart', sdp })).toMatchObject({
    type: 'error',
    problem: { status: 413 },
  });
  expect(stage.origin.requests).toEqual([]);
});
