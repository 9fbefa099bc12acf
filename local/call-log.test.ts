import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { describeLog } from './call-log.ts';

const BASE = { level: 30, time: 1, region: 'eu-central-1', cluster: 2, transceiver: 1 };
const CALL = 'c0ffee00000000000000000000000000';

test.each([
  [
    { ...BASE, call: CALL, msg: 'session created' },
    { kind: 'call', text: 'call c0ffee starts: eu-central-1, transceiver 1' },
  ],
  [
    { ...BASE, call: CALL, reason: 'deleted', duration: 12_345, msg: 'session ended' },
    {
      kind: 'call',
      text: 'call c0ffee ends:   eu-central-1, transceiver 1, after 12.3 s: deleted',
    },
  ],
  [{ ...BASE, msg: 'the region is ready' }, undefined],
  [
    { ...BASE, level: 40, reason: 'ECONNREFUSED', msg: 'out of the roster' },
    { kind: 'trouble', text: 'eu-central-1: out of the roster (ECONNREFUSED)' },
  ],
  [
    { ...BASE, level: 50, err: { message: 'no', stack: 'Error: no\n at x' }, msg: 'it failed' },
    { kind: 'trouble', text: 'eu-central-1: it failed (no)' },
  ],
  [
    { ...BASE, level: 60, err: { message: 'no', stack: 'Error: no\n at x' }, msg: 'the end' },
    { kind: 'trouble', text: 'eu-central-1: the end (Error: no\n at x)' },
  ],
])('%j', (entry, expected) => {
  expect(describeLog(JSON.stringify(entry))).toEqual(expected);
});

test('what is no log is passed on, and an empty line is nothing', () => {
  const text = 'Assertion failed: x > 0';
  expect(describeLog(text)).toEqual({ kind: 'trouble', text });
  expect(describeLog(' ')).toBeUndefined();
});

test('takes any line', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.json()), (line) => {
      expect(['call', 'trouble', undefined]).toContain(describeLog(line)?.kind);
    }),
  );
});
