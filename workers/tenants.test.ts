import { env } from 'cloudflare:workers';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  MAX_CONCURRENT_CALLS,
  parseTenant,
  readTenant,
  TENANT_FRESH,
  TENANT_STALE,
} from './tenants.ts';
import { storing } from './testing/kv.ts';

const HASH = 'a'.repeat(64);
const GOOD = { keys: [HASH], callsPerMinute: 60 };
const NOW = Date.UTC(2026, 10, 20);

beforeEach(() => void vi.useFakeTimers({ now: NOW, toFake: ['Date'] }));
afterEach(() => void vi.useRealTimers());

describe('a tenant', () => {
  it('has keys and a rate, and perhaps origins and a cap', () => {
    expect(parseTenant('acme', JSON.stringify(GOOD))).toEqual(GOOD);
    const origins = ['https://acme.test', 'http://localhost:3000'];
    expect(parseTenant('acme', JSON.stringify({ ...GOOD, origins }))).toMatchObject({ origins });
    const capped = { ...GOOD, concurrentCalls: 1 };
    expect(parseTenant('acme', JSON.stringify(capped))).toEqual(capped);
  });

  it.each([
    ['', 'not JSON'],
    ['{', 'not JSON'],
    ['null', 'the tenant'],
    [JSON.stringify({ ...GOOD, keys: [HASH, 'sk_acme_x'] }), 'keys.1'],
    [JSON.stringify({ ...GOOD, keys: undefined }), 'keys'],
    [JSON.stringify({ ...GOOD, callsPerMinute: 61 }), 'callsPerMinute'],
    [JSON.stringify({ ...GOOD, origins: ['https://acme.test/'] }), 'origins.0'],
    [JSON.stringify({ ...GOOD, origins: ['*'] }), 'origins.0'],
    [JSON.stringify({ ...GOOD, origins: ['https://*.acme.test'] }), 'origins.0'],
    [JSON.stringify({ ...GOOD, origins: ['https://Acme.test'] }), 'origins.0'],
    [JSON.stringify({ ...GOOD, origins: ['https://acme.test:443'] }), 'origins.0'],
    [JSON.stringify({ ...GOOD, origins: ['https://user@acme.test'] }), 'origins.0'],
    [JSON.stringify({ ...GOOD, origins: ['null'] }), 'origins.0'],
    [JSON.stringify({ ...GOOD, concurrentCalls: 0 }), 'concurrentCalls'],
    [JSON.stringify({ ...GOOD, concurrentCalls: 1.5 }), 'concurrentCalls'],
    [JSON.stringify({ ...GOOD, concurrentCalls: MAX_CONCURRENT_CALLS + 1 }), 'concurrentCalls'],
    [JSON.stringify({ ...GOOD, callsPerMinutes: 60 }), 'callsPerMinutes'],
  ])('is not %j, and the error says where it is wrong and how to write one', (text, where) => {
    expect(() => parseTenant('acme', text)).toThrow(where);
    expect(() => parseTenant('acme', text)).toThrow('wrangler kv key put --binding TENANTS acme');
  });
});

/** Reads once, with whatever goes on behind done. */
async function read(name: string, namespace: KVNamespace = env.TENANTS) {
  const work: Promise<unknown>[] = [];
  const tenant = await readTenant(namespace, name, (promise) => work.push(promise));
  await Promise.all(work);
  return tenant;
}

describe('readTenant', () => {
  it('finds those in KV alone', async () => {
    await env.TENANTS.put('reads', JSON.stringify(GOOD));
    expect(await read('reads')).toEqual(GOOD);
    expect(await read('unknown')).toBeUndefined();
  });

  it('asks for no name that is none', async () => {
    const { get, namespace } = storing(() => JSON.stringify(GOOD));
    expect(await read('steering:x', namespace)).toBeUndefined();
    expect(get).not.toHaveBeenCalled();
  });

  it('takes up a change, and a removal, after the time it tells', async () => {
    let text: string | null = JSON.stringify(GOOD);
    const { get, namespace } = storing(() => text);
    for (let i = 0; i < 3; i++) expect(await read('changes', namespace)).toEqual(GOOD);
    expect(get).toHaveBeenCalledTimes(1);
    text = null;
    vi.setSystemTime(NOW + TENANT_FRESH + 1);
    expect(await read('changes', namespace)).toEqual(GOOD);
    expect(await read('changes', namespace)).toBeUndefined();
    text = JSON.stringify(GOOD);
    vi.setSystemTime(NOW + 2 * TENANT_FRESH + TENANT_STALE);
    expect(await read('changes', namespace)).toEqual(GOOD);
  });

  it('goes on with what it knew while KV is away, and fails for whom it never knew', async () => {
    let away = false;
    const { namespace } = storing(() => {
      if (away) throw new Error('KV is away');
      return JSON.stringify(GOOD);
    });
    await read('outlives', namespace);
    away = true;
    vi.setSystemTime(NOW + 100 * TENANT_STALE);
    expect(await read('outlives', namespace)).toEqual(GOOD);
    await expect(read('never-known', namespace)).rejects.toThrow('KV is away');
  });

  it('holds a bounded number, however many names are made up', async () => {
    const { get, namespace } = storing(() => null);
    for (let i = 0; i < 1_001; i++) await read(`made-up-${i}`, namespace);
    expect(get).toHaveBeenCalledTimes(1_001);
    await read('made-up-1000', namespace);
    expect(get).toHaveBeenCalledTimes(1_001);
    await read('made-up-0', namespace);
    expect(get).toHaveBeenCalledTimes(1_002);
  });

  it('holds tenants while names are made up', async () => {
    const { get, namespace } = storing(() => JSON.stringify(GOOD));
    await read('stays', namespace);
    const { namespace: empty } = storing(() => null);
    for (let i = 0; i < 2_000; i++) await read(`invented-${i}`, empty);
    expect(await read('stays', namespace)).toEqual(GOOD);
    expect(get).toHaveBeenCalledTimes(1);
  });
});
