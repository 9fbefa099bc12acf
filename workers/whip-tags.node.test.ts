// RFC 9725 §4.2 and §4.3, entity-tags as clients may send them. The origin makes no media.
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import {
  FIRST_TAG,
  FRAGMENT_TYPE,
  NEW_FRAGMENT,
  OFFER,
  openCallStage,
  refusal,
  SECOND_TAG,
  willing,
  type CallStage,
} from './testing/call-stage.ts';

const FRAGMENT = 'a=ice-ufrag:qYcw\r\na=ice-pwd:9KgWRQkJ4Pj0Zn3v6y6cM3QhL\r\n';

let stage: CallStage;
let location: string;

beforeAll(async () => {
  stage = await openCallStage();
});
afterAll(() => stage?.close());

/** Places a call, and forgets what it asked of the origin. */
beforeEach(async () => {
  stage.origin.behave(willing);
  const response = await stage.edge.fetch('/whip', {
    method: 'POST',
    headers: { 'content-type': 'application/sdp' },
    body: OFFER,
  });
  await response.text();
  location = response.headers.get('location')!;
  stage.origin.behave(willing);
});

const patch = (ifMatch: string) =>
  stage.edge.fetch(location, {
    method: 'PATCH',
    headers: { 'content-type': FRAGMENT_TYPE, 'if-match': ifMatch },
    body: FRAGMENT,
  });

const ops = () => stage.origin.requests.map(({ claims }) => claims.op);

it('§4.2, a DELETE ends the session whatever entity-tag it has', async () => {
  for (const tag of ['"other"', '*', 'W/"weak"', 'none']) {
    const headers = { 'if-match': tag };
    expect((await stage.edge.fetch(location, { method: 'DELETE', headers })).status).toBe(200);
  }
});

it('§4.3.1, an empty If-Match is none', async () => {
  const response = await patch('');
  expect(response.status).toBe(428);
  await response.text();
  expect(ops()).toEqual([]);
});

it('§4.3.1, an entity-tag that nobody gave out is refused by 412, however long', async () => {
  const response = await patch(`"${'x'.repeat(20_000)}"`);
  expect(response.status).toBe(412);
  await response.text();
  expect(ops()).toEqual([]);
});

it('§4.3.3, a restart may have its * in quotes, as in the example there', async () => {
  const response = await patch('"*"');
  expect(response.status).toBe(200);
  expect(await response.text()).toBe(NEW_FRAGMENT);
  expect(ops()).toEqual(['restart']);
});

it('§4.3.3, new credentials are a restart, even with the entity-tag of before', async () => {
  stage.origin.behave((request) =>
    request.claims.op === 'trickle' ? refusal('conflict') : willing(request),
  );
  const response = await patch(FIRST_TAG);
  expect(response.status).toBe(200);
  expect(response.headers.get('etag')).toBe(SECOND_TAG);
  expect(await response.text()).toBe(NEW_FRAGMENT);
  expect(ops()).toEqual(['trickle', 'restart']);
});

it('§4.3.3, a restart with the credentials of before is refused, and asked for once', async () => {
  stage.origin.behave(() => refusal('conflict'));
  const response = await patch('*');
  expect(response.status).toBe(409);
  await response.text();
  expect(ops()).toEqual(['restart']);
});
