import { env } from 'cloudflare:workers';
import { expect, it, vi } from 'vitest';
import { rosterOf } from './roster-reader.ts';
import { testTable } from './testing/steering-table.ts';

// Where an object lives cannot be seen from outside, so what is asked for is.
it.each([
  [0, 'enam'],
  [1, 'weur'],
  [2, 'apac-ne'],
])('asks that the roster of cluster %d of the table live near it', (index, locationHint) => {
  using asked = vi.spyOn(env.ROSTER, 'getByName');
  const cluster = testTable().clusters[index]!;
  rosterOf(env.ROSTER, cluster);
  expect(asked).toHaveBeenCalledExactlyOnceWith(String(cluster.cluster), { locationHint });
});
