// Calls in real workerd, each with a `request.cf` of its own: which cluster takes it and whose relays it is told.
// The origins here make no media; test/ has calls with real transceivers.
import * as v from 'valibot';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { parseSigningKey, type RelayAddress } from '../protocol/signature.ts';
import { ANSWER, OFFER, willing } from './testing/call-stage.ts';
import { SIGNING_KEY, startLocalEdge, type LocalEdge } from './testing/local-edge.ts';
import { startSignedOrigin, type SignedOrigin } from './testing/signed-origin.ts';
import { clusterAt as at } from './testing/steering-table.ts';
import { WhereSchema } from './where-answer.ts';

const VIRGINIA = 1;
const FRANKFURT = 2;
const PARIS = 3;
const DUBAI = 4;
const MUMBAI = 5;
const SYDNEY = 6;

/** A region with all that a VIP can have, and one of another kind than the rest. */
const BOTH_FAMILIES: readonly RelayAddress[] = [
  { address: '192.0.2.5', port: 3478, transport: 'udp' },
  { address: '2001:db8::5', port: 3478, transport: 'udp' },
  { address: '192.0.2.5', port: 443, transport: 'tcp' },
  { address: '2001:db8::5', port: 443, transport: 'tcp' },
];

const CLUSTERS = [
  at(VIRGINIA, 'us-east-1', 38.95, -77.45),
  at(FRANKFURT, 'eu-central-1', 50.11, 8.68, { failover: [VIRGINIA] }),
  at(PARIS, 'eu-west-3', 48.86, 2.35, { failover: [FRANKFURT] }),
  at(DUBAI, 'me-central-1', 25.2, 55.27, { overrides: { countries: ['EG'], colos: ['CAI'] } }),
  at(MUMBAI, 'ap-south-1', 19.08, 72.88, { relays: [...BOTH_FAMILIES], failover: [VIRGINIA] }),
  at(SYDNEY, 'ap-southeast-2', -33.87, 151.21, { weight: 3 }),
];

const LUXEMBOURG = { colo: 'LUX', latitude: '49.6', longitude: '6.1' };
const BOMBAY = { colo: 'BOM', latitude: '19.08', longitude: '72.88' };
const CAIRO = { colo: 'CAI', latitude: '30.04', longitude: '31.24', country: 'EG' };

/** Miniflare fills in a place of its own where nothing is set, even as unknown. */
const UNKNOWN = {
  colo: 'ZZZ',
  latitude: undefined,
  longitude: undefined,
  country: undefined,
  continent: undefined,
};

let edge: LocalEdge;
const origins = new Map<number, SignedOrigin>();

beforeAll(async () => {
  const key = parseSigningKey(SIGNING_KEY);
  for (const { cluster } of CLUSTERS) origins.set(cluster, await startSignedOrigin(key, cluster));
  const clusters = CLUSTERS.map((own) => ({ ...own, signaling: origins.get(own.cluster)!.url }));
  edge = await startLocalEdge(JSON.stringify({ version: 1, clusters }));
  for (const cluster of [VIRGINIA, DUBAI, SYDNEY]) await report(cluster, 0);
});
afterAll(async () => {
  await edge.close();
  await Promise.all([...origins.values()].map((origin) => origin.close()));
});
beforeEach(async () => {
  for (const origin of origins.values()) origin.behave(willing);
  await reported({ [FRANKFURT]: 5, [PARIS]: 1 });
});

/** The only transceiver of the cluster says that it holds so many of ten sessions. */
const report = (cluster: number, sessions: number) =>
  edge.join(cluster, { transceiver: 10 * cluster, sessions, capacity: 10, draining: false });

/** Until the edge has read it, which has a roster for a second. */
async function reported(sessions: Readonly<Record<number, number>>): Promise<void> {
  for (const [cluster, count] of Object.entries(sessions)) await report(Number(cluster), count);
  const loads = Object.entries(sessions).map(([cluster, count]) => ({
    cluster: Number(cluster),
    load: count < 10 ? count / 10 : null,
  }));
  await vi.waitFor(async () => expect((await where(LUXEMBOURG)).sharing).toMatchObject(loads), {
    timeout: 20_000,
    interval: 100,
  });
}

async function where(cf: object) {
  const response = await edge.fetch('/v1/where', { cf });
  return v.parse(WhereSchema, await response.json());
}

async function call(cf: object): Promise<string | null> {
  const headers = { 'content-type': 'application/sdp' };
  const response = await edge.fetch('/v1/calls', { method: 'POST', body: OFFER, headers, cf });
  expect([response.status, await response.text()]).toEqual([201, ANSWER]);
  return response.headers.get('relay-path');
}

const path = (colo: string, cluster: string, ingress: string, transceiver: number) =>
  `colo="${colo}", cluster="${cluster}", ingress="${ingress}", transceiver=${transceiver}`;

/** The relays that the answer to the last call names. */
const relaysToldBy = (cluster: number) =>
  origins
    .get(cluster)!
    .requests.map(({ claims }) => claims.op === 'create' && claims.relays)
    .at(-1);

describe('of two regions about equally near', () => {
  it('the emptier one takes every call, by the relays of the nearest', async () => {
    for (let i = 0; i < 8; i++) {
      expect(await call(LUXEMBOURG)).toBe(path('LUX', 'eu-west-3', 'eu-central-1', 10 * PARIS));
    }
    expect(relaysToldBy(PARIS)).toEqual([...CLUSTERS[1]!.relays, ...CLUSTERS[2]!.relays]);
    await reported({ [FRANKFURT]: 0, [PARIS]: 1 });
    expect(await call(LUXEMBOURG)).toBe(
      path('LUX', 'eu-central-1', 'eu-central-1', 10 * FRANKFURT),
    );
  });

  it('each is named with its load, and the same state gives the same answer', async () => {
    const first = await where(LUXEMBOURG);
    expect(first).toMatchObject({
      region: 'eu-central-1',
      ingress: { region: 'eu-central-1' },
      reason:
        'nearest to 49.6, 6.1; eu-west-3 is about as near and shares the calls, each of which goes to the emptier of both',
      sharing: [
        {
          region: 'eu-central-1',
          cluster: FRANKFURT,
          load: 0.5,
          reason: '50 % of its room is taken',
        },
        { region: 'eu-west-3', cluster: PARIS, load: 0.1, reason: '10 % of its room is taken' },
      ],
      client: { latitude: 49.6, longitude: 6.1 },
    });
    expect(first.regions).toContainEqual({
      region: 'eu-central-1',
      cluster: FRANKFURT,
      state: 'active',
      latitude: CLUSTERS[1]!.latitude,
      longitude: CLUSTERS[1]!.longitude,
    });
    for (let i = 0; i < 20; i++) expect(await where(LUXEMBOURG)).toEqual(first);
  });

  it('the other one takes the calls when one is full, and then the failover list does', async () => {
    await reported({ [FRANKFURT]: 5, [PARIS]: 10 });
    expect(await call(LUXEMBOURG)).toContain('cluster="eu-central-1"');
    expect(await where(LUXEMBOURG)).toMatchObject({
      region: 'eu-central-1',
      reason: 'nearest to 49.6, 6.1',
      sharing: [{ load: 0.5 }, { load: null, reason: 'it has no room now' }],
    });
    await reported({ [FRANKFURT]: 10, [PARIS]: 5 });
    expect(await call(LUXEMBOURG)).toContain('cluster="eu-west-3", ingress="eu-central-1"');
    expect(await where(LUXEMBOURG)).toMatchObject({
      region: 'eu-west-3',
      reason: 'eu-central-1 comes first (nearest to 49.6, 6.1), but it has no room now',
    });
    await reported({ [FRANKFURT]: 10, [PARIS]: 10 });
    // Dubai is nearer than the one that the list names.
    expect(await call(LUXEMBOURG)).toContain('cluster="us-east-1", ingress="eu-central-1"');
  });

  it('the one that failed a call takes none for a while', { timeout: 60_000 }, async () => {
    origins.get(PARIS)!.behave(() => ({ status: 500 }));
    expect(await call(LUXEMBOURG)).toContain('cluster="eu-central-1"');
    origins.get(PARIS)!.behave(willing);
    expect(await call(LUXEMBOURG)).toContain('cluster="eu-central-1"');
    expect((await where(LUXEMBOURG)).sharing[1]).toMatchObject({
      load: null,
      reason: 'it failed a call a moment ago',
    });
    expect(origins.get(PARIS)!.requests).toEqual([]);
    await vi.waitFor(async () => expect(await call(LUXEMBOURG)).toContain('cluster="eu-west-3"'), {
      timeout: 30_000,
      interval: 200,
    });
  });
});

describe('a call', () => {
  it('is told all relays of the client’s region, of both families and transports, then the session’s', async () => {
    // Nobody is on the roster of Mumbai.
    expect(await call(BOMBAY)).toBe(path('BOM', 'us-east-1', 'ap-south-1', 10 * VIRGINIA));
    expect(relaysToldBy(VIRGINIA)).toEqual([...BOTH_FAMILIES, ...CLUSTERS[0]!.relays]);
    expect(await where(BOMBAY)).toMatchObject({
      ingress: { region: 'ap-south-1', relays: BOTH_FAMILIES },
      sharing: [],
    });
  });

  it.each([
    ['its country', { ...CAIRO, colo: 'ATH' }],
    ['its colo', { ...CAIRO, country: 'LY' }],
    ['its colo, and nothing else is known', { ...UNKNOWN, colo: 'CAI' }],
  ])('goes where an override sends %s', async (_name, cf) => {
    expect(await call(cf)).toContain('cluster="me-central-1", ingress="me-central-1"');
  });

  it.each([
    ['Jakarta, to a heavy region', { latitude: '-6.21', longitude: '106.85' }, 'ap-southeast-2'],
    ['Tokyo, to a heavy region', { latitude: '35.68', longitude: '139.69' }, 'ap-southeast-2'],
    ['Muscat, which is too near another', { latitude: '23.6', longitude: '58.4' }, 'me-central-1'],
  ])('goes by distance and weight from %s', async (_name, cf, region) => {
    expect(await call({ colo: 'XXX', ...cf })).toContain(`cluster="${region}"`);
  });

  it.each([
    ['nothing is known', {}, 'us-east-1'],
    ['it comes by Tor to a known colo', { country: 'T1', colo: 'SYD' }, 'ap-southeast-2'],
    [
      'coordinates are refuted by light',
      { ...BOMBAY, colo: 'SYD', clientTcpRtt: 4 },
      'ap-southeast-2',
    ],
    [
      'it comes through a VPN',
      { ...CAIRO, country: 'LY', colo: 'DXB', clientTcpRtt: 300 },
      'me-central-1',
    ],
  ])('goes where it should when %s', async (_name, cf, region) => {
    expect(await call({ ...UNKNOWN, ...cf })).toContain(`cluster="${region}"`);
  });
});
