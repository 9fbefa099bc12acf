import { expect, test } from 'vitest';
import { isTenantName } from './tenant-name.ts';

test.each(['a', '0', 'acme', 'acme-2', 'a'.repeat(32)])('%j is a name', (name) => {
  expect(isTenantName(name)).toBe(true);
});

test.each(['', '-a', 'A', 'a_b', 'a:b', 'a/b', 'a'.repeat(33), 'ä', '__proto__'])(
  '%j is none',
  (name) => {
    expect(isTenantName(name)).toBe(false);
  },
);
