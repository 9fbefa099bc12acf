// The origin speaks the signed contract and makes no media; test/ has OpenAI's own client with real ones.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import * as v from 'valibot';
import { MAX_SDP_BYTES } from '../forward.ts';
import { ANSWER, OFFER, openCallStage, willing, type CallStage } from '../testing/call-stage.ts';
import { MAX_SESSION_BYTES } from './call-form.ts';

const Coded = v.object({ error: v.object({ code: v.string() }) });

const CALLS = '/v1/realtime/calls';
const BOUNDARY = 'the-boundary';
const FORM_TYPE = `multipart/form-data; boundary=${BOUNDARY}`;
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
    expect(stage.origin.requests[0]!.body).toBe(OFFER);
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

describe('an error has OpenAI’s shape', () => {
  it.each<[string, string | Uint8Array, string | undefined, [number, string]]>([
    ['another type', '{}', 'application/json', [415, 'unsupported_media_type']],
    ['no type', new Uint8Array([1]), undefined, [415, 'unsupported_media_type']],
    ['no SDP', 'hello', 'application/sdp', [400, 'malformed_offer']],
    [
      'too large SDP',
      'v=0\r\n'.repeat(MAX_SDP_BYTES / 4),
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
      form(part('sdp', `v=0\r\n${'a'.repeat(MAX_SDP_BYTES)}`)),
      FORM_TYPE,
      [413, 'offer_too_large'],
    ],
    ...['{', '[]', '"x"', '{"type":"transcription"}', '{"model":1}', 'null', ''].map(
      (session): [string, string, string, [number, string]] => [
        `the session ${session || 'of nothing'}`,
        form(part('sdp', OFFER), part('session', session)),
        FORM_TYPE,
        [400, 'malformed_request'],
      ],
    ),
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
