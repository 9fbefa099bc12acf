import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as v from 'valibot';
import { hashApiKey } from '../api-keys.ts';
import { startLocalEdge, type LocalEdge } from '../testing/local-edge.ts';
import { MAX_SESSION_BYTES } from '../../protocol/session-config.ts';

const KEY = `sk_acme_${'k'.repeat(43)}`;

/** Too deep for a session, and far too deep to be written again. */
const DEEP = `{"x":${'['.repeat(20_000)}${']'.repeat(20_000)}}`;

const Coded = v.object({ error: v.object({ code: v.string() }) });
const Secret = v.object({ value: v.string(), expires_at: v.number(), session: v.unknown() });

let edge: LocalEdge;

beforeAll(async () => {
  edge = await startLocalEdge(undefined);
  await edge.putTenant('acme', { keys: [hashApiKey(KEY)], callsPerMinute: 6000 });
});
afterAll(() => edge?.close());

const JSON_HEADERS = { 'content-type': 'application/json' };

const mint = (body: string | undefined, headers: Record<string, string> = JSON_HEADERS) =>
  edge.fetch('/v1/realtime/client_secrets', {
    method: 'POST',
    headers: { authorization: `Bearer ${KEY}`, ...headers },
    ...(body === undefined ? {} : { body }),
  });

const now = () => Math.floor(Date.now() / 1000);

describe('a client secret', () => {
  it.each<[string, string | undefined, number]>([
    ['without a body', undefined, 600],
    ['with nothing', '{}', 600],
    ['with the usual anchor', '{"expires_after":{"anchor":"created_at"}}', 600],
    ['for the shortest time', '{"expires_after":{"anchor":"created_at","seconds":10}}', 10],
    ['for the longest time', '{"expires_after":{"seconds":7200}}', 7200],
  ])('is made %s', async (_, body, seconds) => {
    const before = now();
    const response = await mint(body, body === undefined ? {} : JSON_HEADERS);
    expect(response.status).toBe(200);
    expect(response.headers.get('cache-control')).toBe('no-store');
    const { value, expires_at, session } = v.parse(Secret, await response.json());
    expect(value).toMatch(/^ek_[\w-]+\.[\w-]+\.[\w-]+$/);
    expect(expires_at).toBeGreaterThanOrEqual(before + seconds);
    expect(expires_at).toBeLessThanOrEqual(now() + seconds);
    expect(session).toEqual({ type: 'realtime' });
  });

  it('says back the session it is for', async () => {
    const session = { type: 'realtime', model: 'parrot', instructions: 'Say it back.' };
    const response = await mint(JSON.stringify({ session }));
    expect(await response.json()).toMatchObject({ session });
  });
});

describe('none is made', () => {
  it.each<[string, string, Record<string, string>, [number, string]]>([
    ['of no JSON', '{', JSON_HEADERS, [400, 'malformed_request']],
    ...[
      'null',
      '1',
      '"x"',
      '[]',
      '[{}]',
      '{"expires_after":[]}',
      '{"expires_after":null}',
      '{"session":null}',
      '{"session":1}',
      '{"session":"x"}',
      '{"session":[]}',
      '{"session":[{"type":"realtime"}]}',
      '{"session":{"model":1}}',
      `{"session":${DEEP}}`,
    ].map((body): [string, string, Record<string, string>, [number, string]] => [
      `of ${body.slice(0, 60)}`,
      body,
      JSON_HEADERS,
      [400, 'malformed_request'],
    ]),
    ['for too short', '{"expires_after":{"seconds":9}}', JSON_HEADERS, [400, 'malformed_request']],
    [
      'for too long',
      '{"expires_after":{"seconds":7201}}',
      JSON_HEADERS,
      [400, 'malformed_request'],
    ],
    [
      'for half seconds',
      '{"expires_after":{"seconds":10.5}}',
      JSON_HEADERS,
      [400, 'malformed_request'],
    ],
    [
      'from another anchor',
      '{"expires_after":{"anchor":"now"}}',
      JSON_HEADERS,
      [400, 'malformed_request'],
    ],
    [
      'for another session',
      '{"session":{"type":"transcription"}}',
      JSON_HEADERS,
      [400, 'malformed_request'],
    ],
    [
      'for a session that fills no header',
      `{"session":{"instructions":"${'a'.repeat(20_000)}"}}`,
      JSON_HEADERS,
      [400, 'malformed_request'],
    ],
    ['of too much', ' '.repeat(MAX_SESSION_BYTES + 1), JSON_HEADERS, [400, 'malformed_request']],
    ['of another type', '{}', { 'content-type': 'text/plain' }, [415, 'unsupported_media_type']],
    [
      'with an unknown key',
      '{}',
      { ...JSON_HEADERS, authorization: `Bearer ${KEY.slice(0, -1)}j` },
      [401, 'unauthorized'],
    ],
    ['with no key', '{}', { ...JSON_HEADERS, authorization: 'Bearer' }, [401, 'unauthorized']],
  ])('%s', async (_, body, headers, expected) => {
    const response = await mint(body, headers);
    const { error } = v.parse(Coded, await response.json());
    expect([response.status, error.code]).toEqual(expected);
  });

  it('with a client secret', async () => {
    const { value } = v.parse(Secret, await (await mint('{}')).json());
    const response = await mint('{}', { ...JSON_HEADERS, authorization: `Bearer ${value}` });
    expect(response.status).toBe(403);
    await response.text();
  });
});
