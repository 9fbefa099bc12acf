import { expect, it } from 'vitest';
import { drain, parseDrained } from './drained.ts';
import { steeringIndex } from './steering.ts';
import { testTable } from './testing/steering-table.ts';

it('a drained cluster drains, and no other changes', () => {
  const table = steeringIndex(testTable({ 3: { state: 'planned' } }));
  const states = drain(table, new Set([2, 3, 9])).clusters.map(({ state }) => state);
  expect(states).toEqual(['active', 'draining', 'planned']);
  expect(drain(table, new Set())).toBe(table);
});

it.each(['', '{}', '[1', '["1"]', '[1.5]', 'null'])('%j drains nothing', (text) => {
  expect(parseDrained(text)).toEqual(new Set());
});

it('a list of ids is what is drained', () => {
  expect(parseDrained('[2, 3]')).toEqual(new Set([2, 3]));
});
