import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { fragmentOf, readMessage } from './messages.ts';

const TYPES = ['offer', 'candidate', 'restart', 'resume', 'bye'];

it.each([
  '{"type":"candidate","candidate":[]}',
  '{"type":"candidate","candidate":[{}]}',
  '{"type":"offer","sdp":["v=0"]}',
  '{"type":["offer"],"sdp":"v=0"}',
  '[{"type":"bye"}]',
  `{"type":"candidate","candidate":${'['.repeat(50_000)}${']'.repeat(50_000)}}`,
])('%.60s is no message', (text) => {
  expect(readMessage(text)).toBeUndefined();
});

it('reads any text, and gives messages of known types alone', () => {
  const message = fc.record(
    {
      type: fc.oneof(fc.constantFrom(...TYPES), fc.jsonValue()),
      sdp: fc.oneof(fc.string(), fc.jsonValue()),
      candidate: fc.jsonValue(),
      call: fc.oneof(fc.string(), fc.jsonValue()),
    },
    { requiredKeys: ['type'] },
  );
  const texts = fc.oneof(
    fc.string(),
    fc.json(),
    message.map((value) => JSON.stringify(value)),
  );
  const seen = new Set<string>();
  fc.assert(
    fc.property(texts, (text) => {
      const read = readMessage(text);
      if (read) seen.add(read.type);
      return read === undefined || TYPES.includes(read.type);
    }),
    { numRuns: 2_000 },
  );
  expect([...seen].toSorted()).toEqual(TYPES.toSorted());
});

it('makes a fragment of four lines at most out of any offer', () => {
  const line = fc.oneof(
    fc.constantFrom('a=ice-ufrag:x', 'a=ice-pwd:y', 'm=audio 9 RTP/AVP 0', 'a=mid:0', 'v=0', ''),
    fc.string({ unit: 'binary' }),
  );
  fc.assert(
    fc.property(fc.array(line), fc.constantFrom('\r\n', '\n', '\r'), (lines, end) => {
      const fragment = fragmentOf(lines.join(end)).split('\r\n');
      expect(fragment.length).toBeLessThanOrEqual(5);
      expect(fragment.at(-1)).toBe('');
    }),
  );
});
