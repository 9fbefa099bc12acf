import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { MAX_CREATION_BYTES, MAX_OFFER_BYTES, readCreation, writeCreation } from './creation.ts';
import { MAX_SESSION_BYTES } from './session-config.ts';

const OFFER = 'v=0\r\ns=ü✓\r\n';

it.each([
  ['an offer alone', { offer: OFFER }, 'application/sdp'],
  ['an offer with a session', { offer: OFFER, session: { type: 'realtime' } }, 'application/json'],
])('%s is read as it was written', (_, creation, contentType) => {
  const body = writeCreation(creation);
  expect(body.contentType).toBe(contentType);
  expect(readCreation(body)).toEqual(creation);
});

it('is within its bound, however its offer and its session are written', () => {
  const offer = '\u0001'.repeat(MAX_OFFER_BYTES);
  const session = { type: 'realtime', x: 'a'.repeat(MAX_SESSION_BYTES - 26) };
  const { text } = writeCreation({ offer, session });
  expect(new TextEncoder().encode(text).length).toBeLessThanOrEqual(MAX_CREATION_BYTES);
  expect(readCreation({ contentType: 'application/json', text })).toEqual({ offer, session });
});

it.each([
  '',
  '{',
  'null',
  '[]',
  '{}',
  '{"offer":"v=0"}',
  '{"offer":1,"session":{}}',
  '{"offer":"v=0","session":[]}',
  '{"offer":"v=0","session":null}',
  '{"offer":"v=0","session":{},"url":"wss://elsewhere.test"}',
])('%s is none', (text) => {
  expect(readCreation({ contentType: 'application/json', text })).toBe('malformed');
});

it('is of no other type', () => {
  expect(readCreation({ contentType: 'text/plain', text: OFFER })).toBe('another type');
});

it('takes any JSON', () => {
  const nearly = fc.record({ offer: fc.jsonValue(), session: fc.jsonValue() });
  const texts = fc.oneof(
    fc.json(),
    nearly.map((body) => JSON.stringify(body)),
  );
  fc.assert(
    fc.property(texts, (text) => {
      const creation = readCreation({ contentType: 'application/json', text });
      const again = typeof creation === 'object' ? readCreation(writeCreation(creation)) : creation;
      expect(again).toEqual(creation);
    }),
  );
});
