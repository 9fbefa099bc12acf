import { expect, test } from 'vitest';
import { added } from './transceiver-counts.ts';

test('counts add up by name, however deep, and lack nothing that only one side has', () => {
  const one = { rtpIn: 1, ice: { checks: 2 }, data: undefined };
  const two = { rtpIn: 3, ice: { checks: 4 }, data: { messagesIn: 5 } };
  const sum = { rtpIn: 4, ice: { checks: 6 }, data: { messagesIn: 5 } };
  expect(added<object>(undefined, one)).toEqual(one);
  expect(added<object>(one, two)).toEqual(sum);
  expect(added<object>(two, one)).toEqual(sum);
});

test('adding changes neither side', () => {
  const one = { ice: { checks: 1 } };
  added(one, { ice: { checks: 2 } });
  expect(one).toEqual({ ice: { checks: 1 } });
});
