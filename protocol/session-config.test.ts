import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import * as v from 'valibot';
import {
  fits,
  MAX_SESSION_BYTES,
  MAX_SESSION_DEPTH,
  mergeSessions,
  SessionSchema,
} from './session-config.ts';

const read = (json: string) => v.safeParse(SessionSchema, JSON.parse(json));
const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);
/** As JSON so long, with its type. */
const sized = (bytes: number) => {
  const rest = '{"type":"realtime","x":""}'.length;
  return `{"type":"realtime","x":"${'a'.repeat(bytes - rest)}"}`;
};

it.each([
  ['{}', { type: 'realtime' }],
  ['{"type":"realtime","tools":[]}', { type: 'realtime', tools: [] }],
  ['{"audio":{"output":{"voice":"marin"}}}', { audio: { output: { voice: 'marin' } } }],
  [`{"x":${nested(MAX_SESSION_DEPTH - 1)}}`, {}],
  [sized(MAX_SESSION_BYTES), {}],
])('%.60s is one', (json, session) => {
  const result = read(json);
  expect(result.success && result.output).toMatchObject(session);
});

it.each([
  'null',
  'true',
  '1',
  '"x"',
  '[]',
  '[{"type":"realtime"}]',
  nested(100_000),
  `{"x":${nested(MAX_SESSION_DEPTH)}}`,
  `{"x":${nested(100_000)}}`,
  sized(MAX_SESSION_BYTES + 1),
  '{"type":"transcription"}',
  '{"type":null}',
  '{"model":1}',
  `{"model":"${'m'.repeat(129)}"}`,
])('%.60s is none', (json) => {
  expect(read(json).success).toBe(false);
});

it('takes any JSON, and what it gives fits', () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 80 }), (json) => {
      const result = read(json);
      expect(!result.success || fits(result.output)).toBe(true);
    }),
  );
});

it('goes over another one member by member, in audio side by side', () => {
  const under = {
    instructions: 'Be kind.',
    tools: [{ name: 'a' }],
    audio: {
      input: { format: 'x', turn_detection: { type: 'server_vad', threshold: 0.5 } },
      output: { voice: 'alloy', speed: 1 },
    },
  };
  const over = {
    instructions: 'Be brief.',
    tools: [],
    audio: { input: { turn_detection: { type: 'semantic_vad' } }, output: { voice: 'marin' } },
  };
  expect(mergeSessions(under, over)).toEqual({
    instructions: 'Be brief.',
    tools: [],
    audio: {
      input: { format: 'x', turn_detection: { type: 'semantic_vad' } },
      output: { voice: 'marin', speed: 1 },
    },
  });
  expect(mergeSessions(under, {})).toEqual(under);
  expect(mergeSessions({}, over)).toEqual(over);
});

it('merges whatever the members are, and changes neither', () => {
  const members = fc.dictionary(
    fc.constantFrom('audio', 'input', 'output', '__proto__', 'x'),
    fc.oneof(fc.jsonValue(), fc.dictionary(fc.constantFrom('input', 'output'), fc.jsonValue())),
  );
  fc.assert(
    fc.property(members, members, (under, over) => {
      const before = JSON.stringify([under, over]);
      const merged = mergeSessions(under, over);
      expect(Object.keys(merged)).toEqual(
        expect.arrayContaining([...Object.keys(under), ...Object.keys(over)]),
      );
      expect(JSON.stringify([under, over])).toBe(before);
    }),
  );
});
