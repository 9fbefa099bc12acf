// The origins here speak the signed contract and make no media.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { parseSigningKey } from '../protocol/signature.ts';
import { SIGNING_KEY, startLocalEdge, type LocalEdge } from './testing/local-edge.ts';
import { startSignedOrigin, type SignedOrigin } from './testing/signed-origin.ts';
import { testTable } from './testing/steering-table.ts';
import { MAX_TRIES } from './tries.ts';

const CLUSTERS = [1, 2, 3];

let edge: LocalEdge;
let origins: SignedOrigin[];

beforeAll(async () => {
  const key = parseSigningKey(SIGNING_KEY);
  origins = await Promise.all(CLUSTERS.map((cluster) => startSignedOrigin(key, cluster)));
  const changes = origins.map(({ url }, i) => [CLUSTERS[i], { signaling: url }] as const);
  edge = await startLocalEdge(JSON.stringify(testTable(Object.fromEntries(changes))));
  for (const cluster of CLUSTERS) {
    await edge.join(cluster, { transceiver: cluster, sessions: 0, capacity: 10, draining: false });
  }
});
afterAll(async () => {
  await edge?.close();
  await Promise.all(origins.map((origin) => origin.close()));
});

it('a call whose origins all hang is given up at one deadline, which cuts the last try short', async () => {
  const starts: number[] = [];
  for (const origin of origins) {
    origin.behave(({ claims }) => {
      if (claims.op === 'create') starts.push(performance.now());
      return claims.op === 'create' ? 'never' : { status: 404 };
    });
  }
  const response = await edge.fetch('/v1/calls', {
    method: 'POST',
    body: 'v=0\r\n',
    headers: { 'content-type': 'application/sdp' },
    cf: { colo: 'FRA', latitude: '50.11', longitude: '8.68' },
  });
  const end = performance.now();
  expect(response.status).toBe(504);
  await response.text();
  expect(starts).toHaveLength(MAX_TRIES);
  const [first, second, third] = starts;
  expect(end - third!).toBeLessThan(second! - first!);
});
