import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { pino } from 'pino';
import * as v from 'valibot';
import { FRAGMENT_CONTENT_TYPE, MAX_FRAGMENT_BYTES } from '../../protocol/ice-fragment.ts';
import { SignatureVerifier, sign, type Forward } from '../../protocol/signature.ts';
import { signalingApp } from './signaling.ts';
import { checkOf, credentialsIn } from './testing/checks.ts';
import { CHROME } from './testing/offers.ts';
import { openStage, type Stage } from './testing/stage.ts';
import { until } from './testing/until.ts';

const CLUSTER = 3;
const KEY = randomBytes(32);
const Problem = v.object({ type: v.string(), status: v.number() });

const newUfrag = () => randomBytes(23).toString('hex').slice(0, 23);

const lines = (...all: string[]) => `${all.join('\r\n')}\r\n`;

/** As libwebrtc's clients of WHIP write it, with the credentials of the offer. */
const TRICKLE = lines(
  'a=ice-ufrag:pXbv',
  'a=ice-pwd:8JfVQkJ4Pj0Zn3v6y6cM3QhL',
  'm=audio 9 UDP/TLS/RTP/SAVPF 0',
  'a=mid:0',
  'a=candidate:1387637174 1 udp 2122260223 192.0.2.1 61764 typ host generation 0 ufrag pXbv network-id 1',
  'a=end-of-candidates',
);
const RESTART = TRICKLE.replaceAll('pXbv', 'qYcw').replace('8JfVQ', '9KgWR');

let stage: Stage;
let app: ReturnType<typeof signalingApp>;
let call: string;
let answer: string;
beforeEach(async () => {
  stage = await openStage();
  app = signalingApp({
    verifier: new SignatureVerifier(KEY, CLUSTER),
    transceivers: new Map([[7, stage.transceiver]]),
    log: pino({ level: 'silent' }),
  });
  ({ answer, call } = stage.create(CHROME));
});
afterEach(() => stage[Symbol.asyncDispose]());

const common = () => ({ requestId: 'r', transceiver: 7, call, tenant: 'acme' });
const trickle = () => ({ op: 'trickle' as const, ...common() });
const restart = (ufrag = newUfrag()) => ({
  op: 'restart' as const,
  ...common(),
  ufrag,
  relays: [{ address: '192.0.2.7', port: 3478, transport: 'udp' as const }],
});

const etag = () => stage.transceiver.find(call, 'acme')!.etag;

async function patch(claims: Forward, body: string, headers: Record<string, string>) {
  const token = sign(KEY, CLUSTER, claims, body);
  return app.request(`/v1/sessions/${claims.call}`, {
    method: 'PATCH',
    body,
    headers: {
      'content-type': FRAGMENT_CONTENT_TYPE,
      authorization: `Bearer ${token}`,
      ...headers,
    },
  });
}

async function problemOf(response: Response): Promise<[number, string]> {
  expect(response.headers.get('content-type')).toBe('application/problem+json');
  const body = v.parse(Problem, await response.json());
  return [body.status, body.type.replace('urn:global-relay:problem:', '')];
}

test('candidates are taken with the ETag, and change nothing', async () => {
  const before = etag();
  for (const tags of [before, `"other", ${before}`]) {
    const response = await patch(trickle(), TRICKLE, { 'if-match': tags });
    expect(response.status).toBe(204);
    expect(await response.text()).toBe('');
  }
  expect(etag()).toBe(before);
});

test('a restart gives what the client needs, and the next ETag', async () => {
  const before = etag();
  const claims = restart();
  const response = await patch(claims, RESTART, { 'if-match': '*' });
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toBe(FRAGMENT_CONTENT_TYPE);
  expect(response.headers.get('etag')).toBe(etag());
  expect(etag()).not.toBe(before);
  const fragment = await response.text();
  expect(fragment).toMatch(/\r\nm=audio 9 UDP\/TLS\/RTP\/SAVPF 111\r\na=mid:0\r\n/);
  expect(fragment).toMatch(/a=candidate:1 1 udp \d+ 192\.0\.2\.7 3478 typ host\r\n/);
  const own = credentialsIn(fragment);
  expect(own.ufrag).toBe(claims.ufrag);
  expect(own.password).not.toBe(credentialsIn(answer).password);
  stage.relay.inject(checkOf(own), { address: '203.0.113.9', port: 4000 });
  await until(() => stage.session(call)!.client?.port === 4000);

  expect(await problemOf(await patch(trickle(), TRICKLE, { 'if-match': before }))).toEqual([
    412,
    'precondition-failed',
  ]);
  const now = { 'if-match': etag() };
  expect((await patch(trickle(), RESTART, now)).status).toBe(204);
  expect(await problemOf(await patch(trickle(), TRICKLE, now))).toEqual([409, 'conflict']);
});

describe('the session stays as it was after', () => {
  const short = 'a=ice-ufrag:qYcw\r\na=ice-pwd:short\r\n';
  test.each<[string, () => Promise<Response>, [number, string]]>([
    ['no If-Match', () => patch(trickle(), TRICKLE, {}), [428, 'precondition-required']],
    [
      'a restart without If-Match',
      () => patch(restart(), RESTART, {}),
      [428, 'precondition-required'],
    ],
    [
      'a weak ETag',
      () => patch(trickle(), TRICKLE, { 'if-match': `W/${etag()}` }),
      [412, 'precondition-failed'],
    ],
    [
      'a token to trickle that restarts',
      () => patch(trickle(), RESTART, { 'if-match': '*' }),
      [401, 'unauthorized'],
    ],
    [
      'a token to restart that trickles',
      () => patch(restart(), TRICKLE, { 'if-match': etag() }),
      [401, 'unauthorized'],
    ],
    [
      'a token to end',
      () => patch({ op: 'end', ...common() }, RESTART, { 'if-match': '*' }),
      [401, 'unauthorized'],
    ],
    [
      'another tenant',
      () => patch({ ...restart(), tenant: 'other' }, RESTART, { 'if-match': '*' }),
      [404, 'call-not-found'],
    ],
    [
      'another call',
      () => patch({ ...restart(), call: 'f'.repeat(32) }, RESTART, { 'if-match': '*' }),
      [404, 'call-not-found'],
    ],
    [
      'a restart with the credentials of before',
      () => patch(restart(), TRICKLE, { 'if-match': '*' }),
      [409, 'conflict'],
    ],
    [
      'a ufrag that is taken',
      () => patch(restart(credentialsIn(answer).ufrag), RESTART, { 'if-match': '*' }),
      [409, 'conflict'],
    ],
    [
      'no credentials',
      () => patch(restart(), 'a=end-of-candidates\r\n', { 'if-match': '*' }),
      [400, 'malformed-fragment'],
    ],
    [
      'a short password',
      () => patch(restart(), short, { 'if-match': '*' }),
      [400, 'malformed-fragment'],
    ],
    ['no SDP', () => patch(restart(), 'hello', { 'if-match': '*' }), [400, 'malformed-fragment']],
    [
      'another media type',
      () => patch(restart(), RESTART, { 'if-match': '*', 'content-type': 'application/sdp' }),
      [415, 'unsupported-media-type'],
    ],
    [
      'too much',
      () => patch(restart(), 'x'.repeat(MAX_FRAGMENT_BYTES + 1), { 'if-match': '*' }),
      [413, 'fragment-too-large'],
    ],
    [
      'no token',
      () => patch(restart(), RESTART, { 'if-match': '*', authorization: '' }),
      [401, 'unauthorized'],
    ],
  ])('%s', async (_, send, expected) => {
    const before = etag();
    expect(await problemOf(await send())).toEqual(expected);
    expect(etag()).toBe(before);
    expect(stage.session(call)!.counters.ice.restarts).toBe(0);
    stage.relay.inject(checkOf(credentialsIn(answer)), { address: '203.0.113.9', port: 4000 });
    await until(() => stage.session(call)!.client?.port === 4000);
  });
});
