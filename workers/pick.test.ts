import { describe, expect, it } from 'vitest';
import type { RosterEntry } from '../protocol/roster.ts';
import { hasRoom, pickTransceiver, whyNone } from './pick.ts';

const entry = (transceiver: number, change: Partial<RosterEntry> = {}): RosterEntry => ({
  transceiver,
  sessions: 0,
  capacity: 10,
  draining: false,
  seenAt: 0,
  ...change,
});

/** Yields the given numbers in turn, as Math.random would. */
function sequence(...numbers: number[]): () => number {
  return () => numbers.shift()!;
}

describe('pickTransceiver', () => {
  it('picks none where none has room', () => {
    const none = [
      entry(1, { draining: true }),
      entry(2, { sessions: 10 }),
      entry(3, { capacity: 0 }),
    ];
    expect(none.some(hasRoom)).toBe(false);
    expect(pickTransceiver(none)).toBeUndefined();
    expect(pickTransceiver([])).toBeUndefined();
  });

  it('passes those without room', () => {
    const entries = [entry(1, { sessions: 10 }), entry(2, { draining: true }), entry(3)];
    expect(pickTransceiver(entries)?.transceiver).toBe(3);
  });

  it('takes the less loaded of the two it drew, by share of capacity', () => {
    const entries = [
      entry(1, { sessions: 5, capacity: 10 }),
      entry(2, { sessions: 6, capacity: 100 }),
      entry(3, { sessions: 9, capacity: 10 }),
    ];
    expect(pickTransceiver(entries, sequence(0, 0))?.transceiver).toBe(2);
    expect(pickTransceiver(entries, sequence(0, 0.99))?.transceiver).toBe(1);
    expect(pickTransceiver(entries, sequence(0.99, 0.99))?.transceiver).toBe(2);
  });

  it('spreads equal load, and never draws one twice', () => {
    const entries = [entry(1), entry(2), entry(3)];
    const picked = new Set<number>();
    for (let i = 0; i < 200; i++) picked.add(pickTransceiver(entries)!.transceiver);
    expect(picked).toEqual(new Set([1, 2, 3]));
    const two = [entry(1, { sessions: 1 }), entry(2)];
    for (let i = 0; i < 50; i++) expect(pickTransceiver(two)?.transceiver).toBe(2);
  });
});

describe('whyNone', () => {
  it.each([
    ['its roster cannot be read now', undefined],
    ['no transceiver of it answers now', []],
    ['all its transceivers are draining', [entry(1, { draining: true })]],
    ['it has no room now', [entry(1, { draining: true }), entry(2, { sessions: 10 })]],
  ])('says that %s', (words, entries) => {
    expect(whyNone(entries)).toBe(words);
  });
});
