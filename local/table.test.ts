import { expect, test } from 'vitest';
import { formatTable } from './table.ts';

test('aligns text to the left and numbers to the right', () => {
  const rows = [
    ['region', 'ms'],
    ['us-east-1', '7'],
    ['eu', '1200.5'],
  ];
  expect(formatTable(rows)).toBe(
    ['region         ms', 'us-east-1       7', 'eu         1200.5'].join('\n'),
  );
});

test('is empty for nothing', () => {
  expect(formatTable([])).toBe('');
});
