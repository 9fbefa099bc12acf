/** What is read as an event, whoever sent it. */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { asConfig } from '../../../protocol/session-config.ts';
import { readEvent, readServerEvent, sessionUpdate } from './events.ts';

const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);

test('an event that nests too deep to be written again is none', () => {
  const event = (depth: number) => `{"type":"session.update","session":{"a":${nested(depth)}}}`;
  expect(readEvent(event(100_000))).toBeUndefined();
  expect(readServerEvent(event(100_000))).toBeUndefined();
  expect(sessionUpdate(asConfig(readEvent(event(100))!['session']), undefined)).toContain(
    nested(100),
  );
});

test('any JSON is read, and what is an event can be written again', () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 40 }), (json) => {
      const event = readEvent(`{"type":"x","value":${json}}`);
      expect(sessionUpdate(asConfig(event), undefined)).toContain('"type":"');
      expect(() => readServerEvent(json)).not.toThrow();
    }),
  );
});
