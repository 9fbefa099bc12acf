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

  it('divides the lots by the room each has', () => {
    const entries = [
      entry(1, { sessions: 8 }),
      entry(2, { sessions: 10 }),
      entry(3, { sessions: 4 }),
    ];
    const at = (lot: number) => pickTransceiver(entries, () => lot)?.transceiver;
    expect([0, 0.2499, 0.25, 0.9999].map(at)).toEqual([1, 1, 3, 3]);
    // More than Math.random gives, as rounding might.
    expect(at(1)).toBe(3);
  });

  it('keeps sending calls to the fuller one of two, as its room has it', () => {
    const entries = [
      entry(1, { sessions: 150, capacity: 200 }),
      entry(2, { sessions: 50, capacity: 200 }),
    ];
    const draws = 10_000;
    let first = 0;
    for (let i = 0; i < draws; i++) first += Number(pickTransceiver(entries)?.transceiver === 1);
    // A quarter, give or take eleven standard deviations.
    expect(Math.abs(first / draws - 0.25)).toBeLessThan(0.05);
  });

  it('fills an empty cluster evenly from one and the same stale list', () => {
    const entries = [1, 2, 3, 4].map((id) => entry(id));
    const picked = new Map<number, number>();
    for (let i = 0; i < 10_000; i++) {
      const id = pickTransceiver(entries)!.transceiver;
      picked.set(id, (picked.get(id) ?? 0) + 1);
    }
    for (const { transceiver } of entries) {
      expect(Math.abs(picked.get(transceiver)! / 10_000 - 0.25)).toBeLessThan(0.05);
    }
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
