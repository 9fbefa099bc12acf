// The origin speaks the signed contract and makes no media; test/ has OpenAI's own client with real ones.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import * as v from 'valibot';
import { MAX_OFFER_BYTES, readCreation } from '../../protocol/creation.ts';
import { ClientSecrets, parseClientSecretKeys } from '../client-secrets.ts';
import { ANSWER, OFFER, openCallStage, willing, type CallStage } from '../testing/call-stage.ts';
import { CLIENT_SECRET_KEYS } from '../testing/local-edge.ts';
import { MAX_SESSION_BYTES, type SessionConfig } from '../../protocol/session-config.ts';

const Coded = v.object({ error: v.object({ code: v.string() }) });

const CALLS = '/v1/realtime/calls';
const BOUNDARY = 'the-boundary';
const FORM_TYPE = `multipart/form-data; boundary=${BOUNDARY}`;
/** Too deep for a session, and far too deep to be written again. */
const DEEP = `{"x":${'['.repeat(20_000)}${']'.repeat(20_000)}}`;

const SESSION = '{"type":"realtime","model":"gpt-realtime","audio":{"output":{"voice":"marin"}}}';

let stage: CallStage;

beforeAll(async () => {
  stage = await openCallStage();
});
afterAll(() => stage?.close());
beforeEach(() => stage.origin.behave(willing));

const post = (path: string, body: string | Uint8Array | undefined, contentType?: string) =>
  stage.edge.fetch(path, {
    method: 'POST',
    headers: contentType === undefined ? {} : { 'content-type': contentType },
    ...(body === undefined ? {} : { body }),
  });

/** What the origin was asked for. */
function createdOf() {
  const { contentType = '', body } = stage.origin.requests[0]!;
  return readCreation({ contentType, text: body });
}

const part = (name: string, body: string, headers = '', file = '') =>
  `--${BOUNDARY}\r\ncontent-disposition: form-data; name="${name}"${file}\r\n${headers}\r\n${body}\r\n`;
const form = (...parts: string[]) => `${parts.join('')}--${BOUNDARY}--\r\n`;

async function errorOf(response: Awaited<ReturnType<typeof post>>) {
  expect(response.headers.get('content-type')).toBe('application/json');
  expect(response.headers.get('access-control-allow-origin')).toBe('*');
  const body = await response.json();
  expect(body).toEqual({
    error: {
      message: expect.any(String),
      type: response.status >= 500 ? 'server_error' : 'invalid_request_error',
      code: expect.stringMatching(/^[a-z_]+$/),
      param: null,
    },
  });
  return [response.status, v.parse(Coded, body).error.code];
}

describe('a call is placed', () => {
  it.each<[string, string, string]>([
    ['by SDP alone', OFFER, 'application/sdp'],
    ['by a form without types', form(part('sdp', OFFER), part('session', SESSION)), FORM_TYPE],
    [
      'by a form with types',
      form(
        part('session', SESSION, 'content-type: application/json\r\n'),
        part('sdp', OFFER, 'content-type: application/sdp\r\n'),
      ),
      FORM_TYPE,
    ],
    [
      'by a form of files',
      form(
        part('sdp', OFFER, 'content-type: application/sdp\r\n', '; filename="sdp"'),
        part('session', SESSION, 'content-type: application/json\r\n', '; filename="blob"'),
      ),
      FORM_TYPE,
    ],
    ['by a form without a session', form(part('sdp', OFFER)), FORM_TYPE],
  ])('%s', async (_, body, contentType) => {
    const response = await post(CALLS, body, contentType);
    expect(response.status).toBe(201);
    expect(response.headers.get('content-type')).toBe('application/sdp');
    expect(response.headers.get('location')).toMatch(/^\/v1\/realtime\/calls\/rtc_[\w-]{65,}$/);
    expect(await response.text()).toBe(ANSWER);
    const session = body.includes('name="session"') ? JSON.parse(SESSION) : undefined;
    expect(createdOf()).toEqual({ offer: OFFER, session });
  });

  it('and hung up', async () => {
    const placed = await post(CALLS, OFFER, 'application/sdp');
    await placed.text();
    const location = placed.headers.get('location')!;
    const response = await post(`${location}/hangup`, undefined);
    expect(response.status).toBe(200);
    expect(await response.text()).toBe('');
    const [create, end] = stage.origin.requests;
    expect(end!.claims).toMatchObject({ op: 'end', call: create!.claims.call });
    stage.origin.behave(() => ({ status: 404 }));
    expect(await errorOf(await post(`${location}/hangup`, undefined))).toEqual([
      404,
      'call_not_found',
    ]);
  });
});

async function secretOf(session: SessionConfig): Promise<string> {
  const keys = new ClientSecrets(parseClientSecretKeys(CLIENT_SECRET_KEYS));
  const { value } = await keys.mint('public', 60, session);
  return `Bearer ${value}`;
}

const postWithSecret = async (
  path: string,
  contentType: string,
  body: string,
  session: SessionConfig,
) =>
  stage.edge.fetch(path, {
    method: 'POST',
    headers: { 'content-type': contentType, authorization: await secretOf(session) },
    body,
  });

describe('a session of a client secret', () => {
  const OF_SECRET = {
    type: 'realtime',
    instructions: 'Be kind.',
    audio: { output: { voice: 'alloy', speed: 1.2 } },
  };

  it.each([CALLS, '/v1/calls', '/whip'])('is that of a call by %s', async (path) => {
    const response = await postWithSecret(path, 'application/sdp', OFFER, OF_SECRET);
    expect(response.status).toBe(201);
    await response.text();
    expect(createdOf()).toMatchObject({ session: OF_SECRET });
  });

  it('lies under that of the call', async () => {
    const body = form(part('sdp', OFFER), part('session', SESSION));
    const response = await postWithSecret(CALLS, FORM_TYPE, body, OF_SECRET);
    expect(response.status).toBe(201);
    await response.text();
    expect(createdOf()).toEqual({
      offer: OFFER,
      session: {
        type: 'realtime',
        model: 'gpt-realtime',
        instructions: 'Be kind.',
        audio: { output: { voice: 'marin', speed: 1.2 } },
      },
    });
  });

  it('is refused where both together are too large', async () => {
    const own = JSON.stringify({ x: 'a'.repeat(MAX_SESSION_BYTES - 100) });
    const body = form(part('sdp', OFFER), part('session', own));
    const response = await postWithSecret(CALLS, FORM_TYPE, body, { y: 'b'.repeat(1_000) });
    expect(await errorOf(response)).toEqual([400, 'malformed_request']);
    expect(stage.origin.requests).toEqual([]);
  });
});

describe('an error has OpenAI’s shape', () => {
  it.each<[string, string | Uint8Array, string | undefined, [number, string]]>([
    ['another type', '{}', 'application/json', [415, 'unsupported_media_type']],
    ['no type', new Uint8Array([1]), undefined, [415, 'unsupported_media_type']],
    ['no SDP', 'hello', 'application/sdp', [400, 'malformed_offer']],
    [
      'too large SDP',
      'v=0\r\n'.repeat(MAX_OFFER_BYTES / 4),
      'application/sdp',
      [413, 'offer_too_large'],
    ],
    ['a form that is none', 'hello', FORM_TYPE, [400, 'malformed_request']],
    ['a form without its end', part('sdp', OFFER), FORM_TYPE, [400, 'malformed_request']],
    ['no boundary', form(part('sdp', OFFER)), 'multipart/form-data', [400, 'malformed_request']],
    [
      'another boundary',
      form(part('sdp', OFFER)),
      'multipart/form-data; boundary=other',
      [400, 'malformed_request'],
    ],
    [
      'a form without an offer',
      form(part('session', SESSION)),
      FORM_TYPE,
      [400, 'malformed_request'],
    ],
    [
      'a form with two offers',
      form(part('sdp', OFFER), part('sdp', OFFER)),
      FORM_TYPE,
      [400, 'malformed_request'],
    ],
    ['a form whose offer is none', form(part('sdp', 'hello')), FORM_TYPE, [400, 'malformed_offer']],
    [
      'a form with a large offer',
      form(part('sdp', `v=0\r\n${'a'.repeat(MAX_OFFER_BYTES)}`)),
      FORM_TYPE,
      [413, 'offer_too_large'],
    ],
    ...[
      '',
      '{',
      'null',
      '1',
      '"x"',
      '[]',
      '[{"type":"realtime"}]',
      '{"type":"transcription"}',
      '{"model":1}',
      DEEP,
    ].map((session): [string, string, string, [number, string]] => [
      `the session ${session.slice(0, 60) || 'of nothing'}`,
      form(part('sdp', OFFER), part('session', session)),
      FORM_TYPE,
      [400, 'malformed_request'],
    ]),
    [
      'two sessions',
      form(part('sdp', OFFER), part('session', SESSION), part('session', SESSION)),
      FORM_TYPE,
      [400, 'malformed_request'],
    ],
    [
      'a large session',
      form(part('sdp', OFFER), part('session', `{"x":"${'a'.repeat(MAX_SESSION_BYTES)}"}`)),
      FORM_TYPE,
      [400, 'malformed_request'],
    ],
    [
      'a huge form',
      form(part('sdp', OFFER), part('x', 'a'.repeat(2 ** 18))),
      FORM_TYPE,
      [413, 'offer_too_large'],
    ],
  ])('for %s', async (_, body, contentType, expected) => {
    expect(await errorOf(await post(CALLS, body, contentType))).toEqual(expected);
    expect(stage.origin.requests).toEqual([]);
  });

  it('for ids that are none', async () => {
    for (const id of ['rtc_', 'rtc_x', `rtc_${'A'.repeat(86)}`, 'A'.repeat(86), '%00']) {
      expect(await errorOf(await post(`${CALLS}/${id}/hangup`, undefined))).toEqual([
        404,
        'call_not_found',
      ]);
    }
  });

  it('for paths and methods that are none', async () => {
    expect(await errorOf(await post('/v1/realtime/nothing', undefined))).toEqual([
      404,
      'not_found',
    ]);
    const response = await stage.edge.fetch(CALLS);
    expect(response.headers.get('allow')).toBe('POST');
    expect(await errorOf(response)).toEqual([405, 'method_not_allowed']);
  });

  it('for a cluster that is full, with when to come again', async () => {
    stage.origin.behave(() => ({ status: 503 }));
    const response = await post(CALLS, OFFER, 'application/sdp');
    expect(response.headers.get('retry-after')).toBe('2');
    expect(await errorOf(response)).toEqual([503, 'no_capacity']);
  });
});

it('tells a browser that OpenAI’s client may say what it is', async () => {
  const response = await stage.edge.fetch(CALLS, {
    method: 'OPTIONS',
    headers: {
      origin: 'https://elsewhere.test',
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization,content-type,x-openai-agents-sdk',
    },
  });
  expect(response.status).toBe(204);
  expect(response.headers.get('access-control-allow-headers')).toContain('x-openai-agents-sdk');
});
