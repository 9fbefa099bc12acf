import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ledgerFaults } from './footprint-ledger.ts';

const LEDGER = {
  'us-east-1': { id: 1, cidr: '10.1.0.0/16' },
  'sa-east-1': { id: 4, cidr: '10.4.0.0/16', gone: true },
};
const US = LEDGER['us-east-1'];

describe('the ledger', () => {
  test('lets regions be that it has, that are new, and that are gone', () => {
    const files = { 'us-east-1': US, 'eu-west-1': { id: 5, cidr: '10.5.0.0/16' } };
    expect(ledgerFaults(files, LEDGER)).toEqual([]);
    expect(ledgerFaults(files, {})).toEqual([]);
  });

  test.each([
    [{ ...US, id: 9 }, 'id must stay 1, as regions/ledger.json has it: it never changes'],
    [
      { ...US, cidr: '10.9.0.0/16' },
      'cidr must stay 10.1.0.0/16, as regions/ledger.json has it: it never changes',
    ],
  ])('refuses a change, %j', (file, fault) => {
    expect(ledgerFaults({ 'us-east-1': file }, LEDGER)).toEqual([
      `regions/us-east-1.yaml: ${fault}`,
    ]);
  });

  test('refuses what a region had that is gone', () => {
    const { id, cidr } = LEDGER['sa-east-1'];
    const files = { 'us-east-1': US, 'eu-west-1': { id, cidr } };
    expect(ledgerFaults(files, LEDGER)).toEqual([
      'regions/eu-west-1.yaml: id 4 is that of sa-east-1 in regions/ledger.json, and never given to another',
      'regions/eu-west-1.yaml: cidr 10.4.0.0/16 is that of sa-east-1 in regions/ledger.json, and never given to another',
    ]);
  });

  test('refuses that a file is missing of a region that is not gone', () => {
    const [fault, ...others] = ledgerFaults({ 'eu-west-1': {} }, LEDGER);
    expect(fault).toContain('regions/us-east-1.yaml: the file is missing');
    expect(others).toEqual([]);
  });

  test.each([
    [null, 'the file: '],
    [[], 'the file: '],
    [{ 'us-east-1': { ...US, id: 0 } }, 'us-east-1.id: '],
    [{ 'us-east-1': { id: 1 } }, 'us-east-1.cidr: '],
    [{ virginia: US }, 'virginia: '],
    [{ 'us-east-1': US, 'us-east-2': { ...US, id: 2 } }, 'us-east-1 and us-east-2 have cidr 10.1.'],
  ])('is checked itself: %j', (ledger, fault) => {
    expect(ledgerFaults({}, ledger).join()).toContain(`regions/ledger.json: ${fault}`);
  });

  test('tells faults of any shape and throws nothing', () => {
    const region = fc.constantFrom('us-east-1', 'sa-east-1', '__proto__', 'x');
    const entry = fc.oneof(fc.constant(US), fc.anything());
    const files = fc.dictionary(region, entry);
    fc.assert(
      fc.property(files, fc.oneof(files, fc.anything()), (some, ledger) => {
        expect(ledgerFaults(some, ledger).every((fault) => fault.startsWith('regions/'))).toBe(
          true,
        );
      }),
    );
  });
});
