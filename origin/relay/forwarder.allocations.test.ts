import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import type { Allocation } from './testing/allocations.ts';

/** A number that the heap holds takes 16: less is what a batch takes, spread over its packets. */
const MAX_BYTES_PER_PACKET = 8;

/** So much room for new objects that none is collected while each packet takes less. */
const FLAGS = ['--min-semi-space-size=64', '--max-semi-space-size=64'];

test('no packet of any kind takes anything of the heap', async () => {
  const file = new URL('./testing/allocations.ts', import.meta.url).pathname;
  const { stdout } = await promisify(execFile)(process.execPath, [...FLAGS, file]);
  const results: Allocation[] = JSON.parse(stdout);
  expect(results.length).toBeGreaterThan(10);
  const excessive = results.filter(
    ({ bytesPerPacket, collections }) =>
      !(bytesPerPacket < MAX_BYTES_PER_PACKET) || collections > 0,
  );
  expect(excessive).toEqual([]);
}, 300_000);
