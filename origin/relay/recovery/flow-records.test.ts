import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SignedRecords } from '../../redis/signed-records.ts';
import { client, header } from '../testing/flows.ts';
import { HOUR, KEY, ufragFor } from '../testing/rig.ts';
import { FLOW_RECORD_LENGTH, FlowRecords, flowName } from './flow-records.ts';

const NOW = Date.now();
const NEWER_KEY = { id: 'B', key: Buffer.alloc(16, 'newer') };
const UFRAG = ufragFor(1, 7, NOW + HOUR);
const NAME = flowName(client(1000), 0);

const records = new FlowRecords([KEY]);
const record = records.seal(NAME, Buffer.from(`${UFRAG}:client`), NOW + 1000);

describe('The name of a flow', () => {
  it('is of its listener, client and port', () => {
    expect(NAME).toBe('flow:0000000000000000000000ffffc000020103e8');
    expect(flowName(client(1001), 0)).not.toBe(NAME);
    expect(flowName(client(1000, '192.0.2.2'), 0)).not.toBe(NAME);
    expect(flowName(client(1000, '2001:db8::1'), 0)).not.toBe(NAME);
    expect(flowName(header({ listener: 1 }), 0)).not.toBe(NAME);
  });

  it('is the same behind another relay, and wherever the header lies', () => {
    expect(flowName(header({ proxy: { address: '10.9.9.9', port: 9 } }), 0)).toBe(NAME);
    expect(flowName(Buffer.concat([Buffer.alloc(7), client(1000)]), 7)).toBe(NAME);
  });
});

describe('The record of a flow', () => {
  it('opens to the token and its route', () => {
    expect(record).toHaveLength(FLOW_RECORD_LENGTH);
    const flow = records.open(NAME, record, NOW);
    expect(Buffer.from(flow!.token).toString()).toBe(UFRAG);
    expect(flow!.route).toMatchObject({ cluster: 1, transceiver: 7 });
  });

  it('is good for no other flow', () => {
    expect(records.open(flowName(client(1001), 0), record, NOW)).toBeUndefined();
  });

  it('is good no longer than it is kept', () => {
    expect(records.open(NAME, record, NOW + 2000)).toBeUndefined();
  });

  it('is good no longer than the token', () => {
    const kept = records.seal(NAME, Buffer.from(UFRAG), NOW + 3 * HOUR);
    expect(records.open(NAME, kept, NOW + 2 * HOUR)).toBeUndefined();
  });

  it('is read with either key of a rotation', () => {
    expect(new FlowRecords([NEWER_KEY, KEY]).open(NAME, record, NOW)).toBeDefined();
    expect(new FlowRecords([NEWER_KEY]).open(NAME, record, NOW)).toBeUndefined();
  });

  it('needs a token of ours, however well it is signed', () => {
    const signed = new SignedRecords([KEY], 'flow').seal(NAME, Buffer.alloc(23, 'A'), NOW + 1000);
    expect(signed).toHaveLength(FLOW_RECORD_LENGTH);
    expect(records.open(NAME, signed, NOW)).toBeUndefined();
  });

  it('may be any bytes', () => {
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 100 }),
      fc.uint8Array({ minLength: FLOW_RECORD_LENGTH, maxLength: FLOW_RECORD_LENGTH }),
      fc.nat(FLOW_RECORD_LENGTH - 1).map((length) => record.subarray(0, length)),
    );
    fc.assert(
      fc.property(bytes, (any) => {
        expect(records.open(NAME, Buffer.from(any), NOW)).toBeUndefined();
      }),
      { numRuns: 2000 },
    );
  });
});
