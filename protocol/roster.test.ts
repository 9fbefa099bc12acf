import * as v from 'valibot';
import { describe, expect, test } from 'vitest';
import {
  callsByTenant,
  MAX_REPORTED_TENANTS,
  ROSTER_DEAD,
  ROSTER_HEARTBEAT,
  TransceiverReportSchema,
} from './roster.ts';

const REPORT = { transceiver: 0, sessions: 3, capacity: 100, draining: false };

/** A call of each of so many tenants. */
function tenants(count: number): [string, number][] {
  return Array.from({ length: count }, (_, i) => [`tenant-${i}`, 1]);
}

describe('a report', () => {
  test('comes through JSON as it is', () => {
    const sent: unknown = JSON.parse(JSON.stringify(REPORT));
    expect(v.parse(TransceiverReportSchema, sent)).toEqual(REPORT);
    const more = {
      ...REPORT,
      calls: [
        ['acme', 2],
        ['constructor', 1],
      ],
    };
    const sentMore: unknown = JSON.parse(JSON.stringify(more));
    expect(v.parse(TransceiverReportSchema, sentMore)).toEqual(more);
  });

  test.each([
    ['a transceiver that does not fit', { transceiver: 65_536 }],
    ['a broken transceiver', { transceiver: 1.5 }],
    ['fewer than no sessions', { sessions: -1 }],
    ['no number of sessions', { sessions: null }],
    ['no capacity', { capacity: undefined }],
    ['a draining that is no boolean', { draining: 'no' }],
    ['an unknown field', { address: '10.0.0.1' }],
    ['calls of no tenant', { calls: [['', 1]] }],
    ['a tenant without calls', { calls: [['acme', 0]] }],
    ['half a call', { calls: [['acme', 0.5]] }],
    ['too many tenants', { calls: tenants(MAX_REPORTED_TENANTS + 1) }],
  ])('with %s is refused', (_, change) => {
    expect(v.is(TransceiverReportSchema, { ...REPORT, ...change })).toBe(false);
  });

  test.each([null, [], 'x', 1])('%j is none', (value) => {
    expect(v.is(TransceiverReportSchema, value)).toBe(false);
  });
});

test('a transceiver may miss two reports before it counts as dead', () => {
  expect(ROSTER_DEAD).toBeGreaterThan(2 * ROSTER_HEARTBEAT);
});

describe('callsByTenant', () => {
  test('counts the sessions of each', () => {
    expect(callsByTenant(['acme', 'rival', 'acme'])).toEqual([
      ['acme', 2],
      ['rival', 1],
    ]);
    expect(callsByTenant([])).toEqual([]);
  });

  test('tells of as many as a report takes, or of none', () => {
    const all = tenants(MAX_REPORTED_TENANTS);
    const names = all.map(([name]) => name);
    expect(callsByTenant(names)).toEqual(all);
    expect(v.is(TransceiverReportSchema, { ...REPORT, calls: all })).toBe(true);
    expect(callsByTenant([...names, 'one-more'])).toBeUndefined();
    expect(callsByTenant(['acme', 'no name'])).toBeUndefined();
  });
});
