import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RECORD_OVERHEAD, SignedRecords } from './signed-records.ts';

const OLD = { id: 'A', key: Buffer.alloc(16, 'old') };
const NEW = { id: 'B', key: Buffer.alloc(16, 'new') };
const NOW = Date.UTC(2026, 5, 1);
const PAYLOAD = Buffer.from('a payload');

const records = new SignedRecords([OLD], 'test');
const sealed = records.seal('name', PAYLOAD, NOW + 1000);

describe('Signed records', () => {
  it('open to what was sealed', () => {
    fc.assert(
      fc.property(fc.string(), fc.uint8Array({ maxLength: 200 }), (name, payload) => {
        const record = records.seal(name, payload, NOW + 1000);
        expect(record.length).toBe(payload.length + RECORD_OVERHEAD);
        expect(records.open(name, record, NOW)).toEqual(Buffer.from(payload));
      }),
    );
  });

  it('are good for their name alone', () => {
    expect(records.open('nam', sealed, NOW)).toBeUndefined();
    expect(records.open('other', sealed, NOW)).toBeUndefined();
  });

  it('are good for their purpose alone', () => {
    expect(new SignedRecords([OLD], 'other').open('name', sealed, NOW)).toBeUndefined();
  });

  it('are good until their time', () => {
    expect(records.open('name', sealed, NOW + 999)).toEqual(PAYLOAD);
    expect(records.open('name', sealed, NOW + 1000)).toBeUndefined();
  });

  it('open with either of two keys, and are sealed with the first', () => {
    const rotated = new SignedRecords([NEW, OLD], 'test');
    expect(rotated.open('name', sealed, NOW)).toEqual(PAYLOAD);
    const renewed = rotated.seal('name', PAYLOAD, NOW + 1000);
    expect(new SignedRecords([NEW], 'test').open('name', renewed, NOW)).toEqual(PAYLOAD);
    expect(records.open('name', renewed, NOW)).toBeUndefined();
  });

  it('stay shut when any bit of them is changed', () => {
    for (let bit = 0; bit < sealed.length * 8; bit++) {
      const changed = Buffer.from(sealed);
      changed[bit >> 3]! ^= 1 << (bit & 7);
      expect(records.open('name', changed, NOW)).toBeUndefined();
    }
  });

  it('stay shut when cut or prolonged', () => {
    for (let length = 0; length < sealed.length; length++) {
      expect(records.open('name', sealed.subarray(0, length), NOW)).toBeUndefined();
    }
    expect(records.open('name', Buffer.concat([sealed, Buffer.alloc(1)]), NOW)).toBeUndefined();
  });

  it('take any bytes', () => {
    fc.assert(
      fc.property(fc.string(), fc.uint8Array({ maxLength: 100 }), (name, bytes) => {
        expect(records.open(name, Buffer.from(bytes), NOW)).toBeUndefined();
      }),
      { numRuns: 2000 },
    );
  });
});
