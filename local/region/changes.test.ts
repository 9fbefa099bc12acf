import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { readFootprint } from '../../origin/footprint-files.ts';
import type { Region } from '../../protocol/footprint-region.ts';
import { changesOf } from './changes.ts';

const before = await readFootprint(fileURLToPath(new URL('../../regions', import.meta.url)));
const NAME = 'us-east-1';
const region = before[NAME]!;

/** What is told of the region when it has these fields. */
function told(fields: Partial<Region>): readonly string[] {
  return changesOf(before, { ...before, [NAME]: { ...region, ...fields } }).lines;
}

test('without a change, nothing is told', () => {
  expect(changesOf(before, structuredClone(before))).toEqual({
    lines: ['Nothing changes.'],
    refusals: [],
  });
});

test.each<[Partial<Region>, RegExp]>([
  [
    { state: 'draining' },
    /state active to draining: it gets no new calls.*calls that are there go/,
  ],
  [{ relay: { ...region.relay, max: 9 } }, /relay pool 2-8 to 2-9; in place/],
  [
    { transceiver: { ...region.transceiver, instance_type: 'c8g.large' } },
    /transceiver c7g\.large to c8g\.large: machines are replaced .* each drains/,
  ],
  [{ redis: { ...region.redis, replicas: 2 } }, /redis replicas 1 to 2; in place/],
  [{ redis: { ...region.redis, node_type: 'cache.r8g.large' } }, /redis cache\.r7g\.large to/],
  [{ azs: [...region.azs, 'us-east-1c'] }, /azs .*: subnets there are created/],
  [
    { azs: ['us-east-1a', 'us-east-1c'] },
    /subnets in us-east-1b are destroyed .* drain the region first/,
  ],
  [{ geo: { ...region.geo, weight: 2 } }, /geo: the edge steers by it/],
  [{ failover: [] }, /failover to the nearest: steering alone/],
])('of %j is told what it does', (fields, line) => {
  const lines = told(fields);
  expect(lines[0]).toBe('us-east-1 changes:');
  expect(lines[1]).toMatch(line);
  expect(lines[2]).toBe('Updated in place for all:');
});

test('an active region must be drained before it goes', () => {
  const { [NAME]: gone, ...rest } = before;
  const { lines, refusals } = changesOf(before, rest);
  expect(lines[0]).toBe('us-east-1 goes, which was active. Destroyed:');
  expect(refusals).toEqual([expect.stringMatching(/^regions\/us-east-1\.yaml: an active region/)]);
  const drained = { ...before, [NAME]: { ...gone!, state: 'draining' as const } };
  expect(changesOf(drained, rest).refusals).toEqual([]);
});

test('a zone leaves a drained region alone', () => {
  const without = { ...region, azs: ['us-east-1a', 'us-east-1c'] };
  const refusalsFrom = (state: Region['state']) =>
    changesOf({ ...before, [NAME]: { ...region, state } }, { ...before, [NAME]: without }).refusals;
  expect(refusalsFrom('active')).toEqual([
    expect.stringMatching(/^regions\/us-east-1\.yaml: azs: us-east-1b must not leave/),
  ]);
  expect(refusalsFrom('draining')).toEqual([]);
});

test('a planned region is listed alone, and an active one must not become that', () => {
  const planned = { ...before, [NAME]: { ...region, state: 'planned' as const } };
  expect(changesOf(planned, before).lines[0]).toMatch(/^us-east-1 is new, as cluster 1, active\./);
  const { lines, refusals } = changesOf(before, planned);
  expect(lines[0]).toBe('us-east-1 goes, which was active. Destroyed:');
  expect(refusals).toEqual([expect.stringContaining('an active region must not go')]);
  const { [NAME]: _, ...rest } = planned;
  expect(changesOf(planned, rest).lines[0]).toContain('nothing was built');
  expect(changesOf(planned, rest).lines.join()).not.toContain('routes, peers');
});

test('what never changes is refused, with its file and field', () => {
  const { refusals } = changesOf(before, {
    ...before,
    [NAME]: { ...region, id: 9, cidr: '10.9.0.0/16' },
  });
  expect(refusals).toEqual([
    expect.stringMatching(/^regions\/us-east-1\.yaml: id must stay 1/),
    expect.stringMatching(/^regions\/us-east-1\.yaml: cidr must stay 10\.1\.0\.0\/16/),
  ]);
});

test('more regions than a mesh of peerings bears are told', () => {
  const many = Object.fromEntries(
    Array.from({ length: 22 }, (_, i) => [`eu-west-${i}`, { ...region, id: i + 1 }]),
  );
  const { 'eu-west-0': _, ...fewer } = many;
  expect(changesOf({}, fewer).lines.at(-1)).toContain('use a transit network');
  expect(changesOf({}, many).lines.at(-1)).toContain('room for 21 regions');
});
