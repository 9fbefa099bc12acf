// What operators ask of the edge. The origin here makes no media; test/ has calls with real transceivers.
import { randomBytes } from 'node:crypto';
import * as v from 'valibot';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { hashApiKey } from './api-keys.ts';
import { startLocalEdge, type LocalEdge } from './testing/local-edge.ts';
import { testTable } from './testing/steering-table.ts';

const ADMIN_KEY = randomBytes(32).toString('base64url');
const GOOD = { authorization: `Bearer ${ADMIN_KEY}` };
const TOKYO = { colo: 'NRT', latitude: '35.68', longitude: '139.69' };
const BERLIN = { colo: 'TXL', latitude: '52.52', longitude: '13.4' };

let edge: LocalEdge;

beforeAll(async () => {
  const secrets = { ADMIN_KEY_HASH: hashApiKey(ADMIN_KEY) };
  edge = await startLocalEdge(JSON.stringify(testTable()), secrets);
  await drain('PUT', 3);
  // What isolates knew before ends with them.
  await edge.deploy();
  const report = { sessions: 2, capacity: 10, draining: false };
  await edge.join(1, { ...report, transceiver: 11 });
  await edge.join(2, { ...report, transceiver: 21 });
  await edge.join(3, { ...report, transceiver: 31 });
}, 60_000);
afterAll(() => edge.close());

const ask = (method: string, path: string, headers: Record<string, string> = GOOD) =>
  edge.fetch(path, { method, headers });

async function regionFor(cf: object): Promise<unknown> {
  const response = await edge.fetch('/v1/where', { cf });
  return v.parse(v.object({ region: v.nullable(v.string()) }), await response.json()).region;
}

const Shown = v.object({
  clusters: v.array(v.object({ cluster: v.number(), drained: v.boolean() })),
});

const drain = (method: string, cluster: number) => ask(method, `/admin/clusters/${cluster}/drain`);
const drainedNow = async () => {
  const shown = v.parse(Shown, await (await ask('GET', '/admin/clusters')).json());
  return shown.clusters.filter(({ drained }) => drained).map(({ cluster }) => cluster);
};

const entry = (transceiver: number) =>
  expect.objectContaining({ transceiver, sessions: 2, capacity: 10, draining: false });

describe('the admin API', () => {
  it('shows every cluster with its state and its roster', async () => {
    const response = await ask('GET', '/admin/clusters');
    expect(response.status).toBe(200);
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(await response.json()).toEqual({
      clusters: [
        { cluster: 1, region: 'us-east-1', state: 'active', drained: false, roster: [entry(11)] },
        {
          cluster: 2,
          region: 'eu-central-1',
          state: 'active',
          drained: false,
          roster: [entry(21)],
        },
        {
          cluster: 3,
          region: 'ap-northeast-1',
          state: 'draining',
          drained: true,
          roster: [entry(31)],
        },
      ],
    });
  });

  it('drains a cluster and puts another one back', async () => {
    expect(await regionFor(BERLIN)).toBe('eu-central-1');
    expect(await regionFor(TOKYO)).toBe('us-east-1');
    const drained = await drain('PUT', 2);
    expect(drained.status).toBe(200);
    expect(await drained.json()).toEqual({ cluster: 2, region: 'eu-central-1', drained: true });
    const back = await drain('DELETE', 3);
    expect(back.status).toBe(200);
    expect(await back.json()).toEqual({ cluster: 3, region: 'ap-northeast-1', drained: false });
    // There is one isolate, which was told; others look when their caches end.
    expect(await regionFor(BERLIN)).toBe('us-east-1');
    expect(await regionFor(TOKYO)).toBe('ap-northeast-1');
    const shown = await (await ask('GET', '/admin/clusters')).json();
    const second = { cluster: 2, state: 'draining', drained: true };
    const third = { cluster: 3, state: 'active', drained: false };
    expect(shown).toMatchObject({ clusters: [{}, second, third] });
    expect(edge.logs()).toContain('a cluster was drained');
    expect(edge.logs()).toContain('a cluster was put back');
    await drain('DELETE', 2);
  });

  it('loses none of two changes at the same moment', async () => {
    for (let i = 0; i < 5; i++) {
      await Promise.all([drain('PUT', 1), drain('PUT', 3)]);
      expect(await drainedNow()).toEqual([1, 3]);
      await Promise.all([drain('DELETE', 1), drain('PUT', 2), drain('DELETE', 3)]);
      expect(await drainedNow()).toEqual([2]);
      await drain('DELETE', 2);
    }
  });

  it.each([
    ['no key', {}],
    ['another key', { authorization: `Bearer ${randomBytes(32).toString('base64url')}` }],
    ['the hash', { authorization: `Bearer ${hashApiKey(ADMIN_KEY)}` }],
    ['another scheme', { authorization: `Basic ${ADMIN_KEY}` }],
    ['a header that is too long', { authorization: `Bearer ${'a'.repeat(10_000)}` }],
  ])('takes nothing with %s', async (_, headers: Record<string, string>) => {
    for (const [method, path] of [
      ['GET', '/admin/clusters'],
      ['PUT', '/admin/clusters/1/drain'],
      ['DELETE', '/admin/clusters/1/drain'],
    ] as const) {
      const response = await ask(method, path, headers);
      expect(response.status).toBe(401);
      expect(response.headers.get('www-authenticate')).toMatch(/^Bearer( error="invalid_token")?$/);
      await response.text();
    }
    expect(await regionFor({ latitude: '38.95', longitude: '-77.45' })).toBe('us-east-1');
  });

  it.each(['9', '01', '-1', 'x', '1e0'])('knows no cluster %s', async (name) => {
    const response = await ask('PUT', `/admin/clusters/${name}/drain`);
    expect(response.status).toBe(404);
    await response.text();
  });
});

describe('the log', () => {
  it('has a line for every request, by its route and with its id, but none for health', async () => {
    const id = `logged-${randomBytes(8).toString('hex')}`;
    const headers = { 'x-request-id': id };
    await (await edge.fetch('/v1/where', { headers, cf: BERLIN })).text();
    await (await edge.fetch('/healthz', { headers: { 'x-request-id': `${id}-health` } })).text();
    await (await edge.fetch('/v1/calls/abc', { method: 'DELETE', headers })).text();
    await vi.waitFor(() => {
      const lines = edge.logs().split('\n');
      expect(lines.filter((line) => line.includes(id)).length).toBeGreaterThanOrEqual(2);
    });
    const text = edge.logs();
    expect(text).toMatch(new RegExp(`${id}[^]*/v1/where`));
    expect(text).toMatch(new RegExp(`${id}[^]*/v1/calls/:id`));
    expect(text).not.toContain(`${id}-health`);
  });
});

it('an edge without an admin key has no admin API', { timeout: 60_000 }, async () => {
  const plain = await startLocalEdge(JSON.stringify(testTable()));
  try {
    const response = await plain.fetch('/admin/clusters', { headers: GOOD });
    expect(response.status).toBe(404);
    expect(await response.text()).toContain('wrangler secret put ADMIN_KEY_HASH');
  } finally {
    await plain.close();
  }
});
