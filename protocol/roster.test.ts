import * as v from 'valibot';
import { describe, expect, test } from 'vitest';
import { ROSTER_DEAD, ROSTER_HEARTBEAT, TransceiverReportSchema } from './roster.ts';

const REPORT = { transceiver: 0, sessions: 3, capacity: 100, draining: false };

describe('a report', () => {
  test('comes through JSON as it is', () => {
    const sent: unknown = JSON.parse(JSON.stringify(REPORT));
    expect(v.parse(TransceiverReportSchema, sent)).toEqual(REPORT);
  });

  test.each([
    ['a transceiver that does not fit', { transceiver: 65_536 }],
    ['a broken transceiver', { transceiver: 1.5 }],
    ['fewer than no sessions', { sessions: -1 }],
    ['no number of sessions', { sessions: null }],
    ['no capacity', { capacity: undefined }],
    ['a draining that is no boolean', { draining: 'no' }],
    ['an unknown field', { address: '10.0.0.1' }],
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
