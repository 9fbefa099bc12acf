import { expect, test } from 'vitest';
import { reasonsOf } from './reasons.ts';

test('names an error and its causes', () => {
  const cause = new Error('b', { cause: new TypeError('c') });
  expect(reasonsOf(new Error('a', { cause }))).toBe('a: b: c');
  expect(reasonsOf(new Error('a', { cause: 'text' }))).toBe('a: text');
  expect(reasonsOf('text')).toBe('text');
});

test('says nothing twice', () => {
  const cause = new Error('the port is taken');
  expect(reasonsOf(new Error(`no start: ${cause.message}`, { cause }))).toBe(
    'no start: the port is taken',
  );
});
