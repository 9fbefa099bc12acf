import { expect, test } from 'vitest';
import type { DropReason } from './counters.ts';
import { fuzzRelay } from './testing/fuzz-relay.ts';

/** As many as take some seconds; `npm run fuzz` throws more. */
const DATAGRAMS = 300_000;

/** Bytes of heap that a run may end with more than it had in its middle, for the engine's own sake. */
const HEAP_NOISE = 4 * 1024 * 1024;

const DAY = 24 * 3_600_000;

/** Another one each day, unless FUZZ_SEED gives the one of a failure. */
const SEED = Number(process.env.FUZZ_SEED ?? Math.floor(Date.now() / DAY));

/** Why datagrams are dropped for what they are. */
const REASONS: readonly DropReason[] = [
  'not-media',
  'malformed-stun',
  'no-flow',
  'malformed-ufrag',
  'unknown-key',
  'forged',
  'expired',
  'unknown-cluster',
  'unknown-transceiver',
  'wrong-cluster',
  'unusable-address',
  'foreign-peer',
  'malformed-trunk',
  'foreign-proxy',
  'unknown-listener',
  'loop',
];

test(`nothing that comes makes a relay throw, originate or grow (FUZZ_SEED=${SEED})`, () => {
  const { datagrams, counters, grown } = fuzzRelay(DATAGRAMS, SEED);

  expect(datagrams).toBeGreaterThanOrEqual(DATAGRAMS);
  expect(grown).toBeLessThan(HEAP_NOISE);
  // All of this happened, or the run said nothing about it.
  const { drops, toTrunk, toClients, createdFlows, lookups } = counters;
  const { expiredFlows, evictedFlows, repointings } = counters;
  expect(REASONS.filter((reason) => drops[reason] === 0)).toEqual([]);
  expect(Math.min(toTrunk.packets, toClients.packets)).toBeGreaterThan(0);
  expect(Math.min(createdFlows.stun, createdFlows.redis)).toBeGreaterThan(0);
  expect(Math.min(expiredFlows, evictedFlows, repointings)).toBeGreaterThan(0);
  expect(Math.min(lookups.heldPackets, lookups.releasedPackets)).toBeGreaterThan(0);
});
