import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  ANNOUNCEMENT_KEPT,
  TRANSCEIVER_RECORD_LENGTH,
  TransceiverRecords,
  parseTransceiverId,
} from './transceiver-record.ts';

const KEYS = [{ id: 'A', key: Buffer.alloc(16, 'records') }] as const;
const NOW = Date.UTC(2026, 5, 1);
const TRUNK = { address: '10.0.0.7', port: 4000 };

const records = new TransceiverRecords(2, KEYS);
const record = records.seal(7, TRUNK, NOW);

describe('The record of a transceiver', () => {
  it.each([TRUNK, { address: '2001:db8::7', port: 65535 }])('opens to $address', (trunk) => {
    const sealed = records.seal(7, trunk, NOW);
    expect(sealed).toHaveLength(TRANSCEIVER_RECORD_LENGTH);
    expect(records.open(7, sealed, NOW)).toEqual(trunk);
  });

  it('is good for no other transceiver and no other cluster', () => {
    expect(records.open(8, record, NOW)).toBeUndefined();
    expect(new TransceiverRecords(3, KEYS).open(7, record, NOW)).toBeUndefined();
  });

  it('is good for as long as it is kept, by a clock half a minute off, and not for ever', () => {
    expect(records.open(7, record, NOW - 30_000)).toEqual(TRUNK);
    expect(records.open(7, record, NOW + ANNOUNCEMENT_KEPT + 30_000)).toEqual(TRUNK);
    expect(records.open(7, record, NOW + 120_000)).toBeUndefined();
  });

  it('may be any bytes', () => {
    const length = TRANSCEIVER_RECORD_LENGTH;
    const bytes = fc.oneof(
      fc.uint8Array(),
      fc.uint8Array({ minLength: length, maxLength: length }),
    );
    fc.assert(
      fc.property(bytes, (any) => {
        expect(records.open(7, Buffer.from(any), NOW)).toBeUndefined();
      }),
    );
  });
});

describe('The id of a transceiver', () => {
  it.each([
    ['0', 0],
    ['65535', 65535],
    ['65536', undefined],
    ['07', undefined],
    ['-1', undefined],
    ['', undefined],
    ['1e3', undefined],
    ['99999999', undefined],
  ])('%j is %j', (text, id) => {
    expect(parseTransceiverId(text)).toBe(id);
  });
});
