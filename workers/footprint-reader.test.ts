import * as fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { defaultIndex, FootprintUnavailable, parseSteering } from './footprint-reader.ts';
import { testTable } from './testing/steering-table.ts';

describe('parseSteering', () => {
  it('reads a table and orders it by cluster id', () => {
    const table = testTable();
    const reversed = { ...table, clusters: table.clusters.toReversed() };
    const { clusters, vectors } = parseSteering(JSON.stringify(reversed));
    expect(clusters).toEqual(table.clusters);
    expect(vectors).toHaveLength(9);
  });

  it('says where a table does not fit and what to do', () => {
    const table = JSON.stringify(testTable()).replace('"state":"active"', '"state":"broken"');
    expect(() => parseSteering(table)).toThrow('clusters.0.state');
    expect(() => parseSteering(table)).toThrow('wrangler kv key put');
    expect(() => parseSteering('{')).toThrow('not JSON');
    expect(() => parseSteering('{"version":2,"clusters":[]}')).toThrow('version');
  });

  it('refuses anything else with the same error', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
        expect(() => parseSteering(text)).toThrow(FootprintUnavailable);
      }),
    );
  });
});

describe('defaultIndex', () => {
  const away = new Error('KV is away');

  it('is the table that the Worker was deployed with', () => {
    using error = vi.spyOn(console, 'error').mockReturnValue();
    const { clusters } = defaultIndex(testTable(), away);
    expect(clusters).toEqual(testTable().clusters);
    expect(error).toHaveBeenCalledExactlyOnceWith(
      expect.objectContaining({ error: 'Error: KV is away' }),
    );
  });

  it('does not hide what went wrong when there is none', () => {
    expect(() => defaultIndex(null, away)).toThrow(away);
  });

  it('says where it does not fit', () => {
    using error = vi.spyOn(console, 'error').mockReturnValue();
    const broken = { ...testTable(), version: 2 };
    expect(() => defaultIndex(broken, away)).toThrow(
      'The steering table bundled with the Worker does not fit at version',
    );
    expect(error).toHaveBeenCalledOnce();
  });
});
