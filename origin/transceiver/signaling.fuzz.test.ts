/** Whatever comes to the signaling interface gets 201 or a 4xx that says why, and never a 500. */
import { randomBytes } from 'node:crypto';
import * as fc from 'fast-check';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { SignatureVerifier, sign, type Forward } from '../../protocol/signature.ts';
import { signalingApp } from './signaling.ts';
import { mutatedOffers } from './testing/mutated-offers.ts';
import { openStage, type Stage } from './testing/stage.ts';

const CLUSTER = 3;
const TRANSCEIVER = 7;
const KEY = randomBytes(32);
const RUNS = 2_000;

function appOf(stage: Stage) {
  return signalingApp({
    verifier: new SignatureVerifier(KEY, CLUSTER),
    transceivers: new Map([[TRANSCEIVER, stage.transceiver]]),
    log: pino({ level: 'silent' }),
  });
}

const creation = (): Forward => ({
  op: 'create',
  requestId: 'r',
  transceiver: TRANSCEIVER,
  call: randomBytes(16).toString('hex'),
  tenant: 'acme',
  ufrag: randomBytes(23).toString('hex').slice(0, 23),
  expiresAt: Date.now() + 60_000,
  relays: [{ address: '192.0.2.1', port: 3478, transport: 'udp' }],
});

test('offers that are nearly right, signed as the edge does', async () => {
  await using stage = await openStage();
  const app = appOf(stage);
  const seen = new Set<number>();
  await fc.assert(
    fc.asyncProperty(mutatedOffers, async (offer) => {
      const claims = creation();
      const response = await app.request('/v1/sessions', {
        method: 'POST',
        body: offer,
        headers: {
          'content-type': 'application/sdp',
          authorization: `Bearer ${sign(KEY, CLUSTER, claims, offer)}`,
        },
      });
      seen.add(response.status);
      // A string of lone surrogates is not the bytes that were signed: 401.
      expect(response.status).toBeOneOf([201, 400, 401, 413]);
      const answered = response.status === 201;
      const type = answered ? 'application/sdp' : 'application/problem+json';
      expect(response.headers.get('content-type')).toBe(type);
      if (answered) stage.transceiver.end(claims.call, claims.tenant);
    }),
    { numRuns: RUNS },
  );
  expect([...seen]).toEqual(expect.arrayContaining([201, 400]));
  expect(stage.transceiver.report().sessions).toBe(0);
});

test('requests of any method, path, token and type', async () => {
  await using stage = await openStage();
  const app = appOf(stage);
  const request = fc.record({
    method: fc.constantFrom('GET', 'POST', 'PATCH', 'DELETE', 'PUT', 'OPTIONS'),
    path: fc.oneof(fc.constantFrom('v1/sessions', 'v1/sessions/a', 'healthz'), fc.webPath()),
    token: fc.oneof(fc.base64String(), fc.constantFrom('', 'a.b.c', `${'a'.repeat(9_000)}.b.c`)),
    type: fc.constantFrom('application/sdp', 'application/trickle-ice-sdpfrag', 'text/plain', ''),
    body: fc.string({ unit: 'binary', maxLength: 200 }),
  });
  await fc.assert(
    fc.asyncProperty(request, async ({ method, path, token, type, body }) => {
      const response = await app.request(`http://localhost/${path.replace(/^\//, '')}`, {
        method,
        headers: { authorization: `Bearer ${token}`, 'content-type': type },
        ...(method === 'GET' ? {} : { body }),
      });
      expect(response.status).toBeLessThan(500);
    }),
    { numRuns: RUNS },
  );
  expect(stage.transceiver.report().sessions).toBe(0);
});
