/** What a relay does with ufrags the edge never made for it: nothing but count them. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startStack, type RegionHandle, type Stack } from '../local/stack.ts';
import type { DropReason } from '../origin/relay/counters.ts';
import { parseRoutingKeys } from '../protocol/routing-keys.ts';
import { readStun } from '../protocol/stun.ts';
import { UfragCodec } from '../protocol/ufrag.ts';
import { CLIENT_UFRAG, OFFER, postOffer, sdpAttribute } from './support/offers.ts';
import { stunCheck } from './support/stun-check.ts';
import { UdpClient } from './support/udp-client.ts';
import { until } from './support/until.ts';

const HOUR = 3_600_000;

/** Checks of each kind that are sent. */
const ATTEMPTS = 20;

/** A cluster id that no region has. */
const NO_CLUSTER = 4242;

/** A transceiver id that no region has. */
const NO_TRANSCEIVER = 999;

let stack: Stack;
let region: RegionHandle;
let codec: UfragCodec;

beforeAll(async () => {
  stack = await startStack();
  region = stack.regions.get('eu-central-1')!;
  codec = new UfragCodec(parseRoutingKeys(stack.routingKeys));
});

afterAll(() => stack?.close());

const soon = () => Date.now() + HOUR;

/** Each gives a fresh ufrag that must not get through, and names the reason it is counted under. */
const ATTACKS: Record<string, { reason: DropReason; ufrag: () => string }> = {
  'a ufrag of no one’s making': {
    reason: 'malformed-ufrag',
    ufrag: () => 'not-a-routed-ufrag',
  },
  'a guess under the right key id': {
    reason: 'forged',
    ufrag: () => {
      const key = crypto.getRandomValues(new Uint8Array(16));
      const id = stack.routingKeys[0]!;
      return new UfragCodec([{ id, key }]).seal(liveRoute());
    },
  },
  'a ufrag sealed under a foreign key': {
    reason: 'unknown-key',
    ufrag: () => new UfragCodec([{ id: 'Z', key: new Uint8Array(16) }]).seal(liveRoute()),
  },
  'an expired ufrag': {
    reason: 'expired',
    ufrag: () => codec.seal({ ...liveRoute(), expiresAt: Date.now() - HOUR }),
  },
  'a ufrag for a cluster that is not there': {
    reason: 'unknown-cluster',
    ufrag: () => codec.seal({ ...liveRoute(), cluster: NO_CLUSTER }),
  },
  'a ufrag for a transceiver that is not there': {
    reason: 'unknown-transceiver',
    ufrag: () => codec.seal({ ...liveRoute(), transceiver: NO_TRANSCEIVER }),
  },
};

function liveRoute() {
  return { cluster: region.cluster, transceiver: 1, expiresAt: soon() };
}

test.each(Object.entries(ATTACKS))('%s is dropped, counted and not answered', async (_, attack) => {
  await using client = await UdpClient.open();
  const before = await region.relayCounters();
  for (let i = 0; i < ATTEMPTS; i++) {
    const check = stunCheck(attack.ufrag(), CLIENT_UFRAG, 'whatever the password may be');
    await client.send(check, region.relays[0]!);
  }
  await until(async () => {
    const { drops } = await region.relayCounters();
    return drops[attack.reason] - before.drops[attack.reason] === ATTEMPTS;
  });

  // A good check after them is answered, on the same socket; had they been, those answers came first.
  const answer = await call();
  const ufrag = sdpAttribute(answer, 'ice-ufrag');
  const check = stunCheck(ufrag, CLIENT_UFRAG, sdpAttribute(answer, 'ice-pwd'));
  await client.send(check, region.relays[0]!);
  await until(() => client.received.length > 0);
  expect(answeredTransactions(client)).toEqual([transactionOf(check)]);
});

test('a good ufrag with a wrong password reaches its transceiver, which does not answer', async () => {
  await using client = await UdpClient.open();
  const answer = await call();
  const ufrag = sdpAttribute(answer, 'ice-ufrag');
  await client.send(stunCheck(ufrag, CLIENT_UFRAG, 'a guess of the password'), region.relays[0]!);
  const password = sdpAttribute(answer, 'ice-pwd');
  const check = stunCheck(ufrag, CLIENT_UFRAG, password);
  await client.send(check, region.relays[0]!);
  await until(() => client.received.length > 0);
  expect(answeredTransactions(client)).toEqual([transactionOf(check)]);
});

/** A new session's answer. */
async function call(): Promise<string> {
  const cf = JSON.stringify({ colo: 'FRA', latitude: '50.1', longitude: '8.7', country: 'DE' });
  const response = await postOffer(stack.edge, OFFER, { 'MF-CF-Blob': cf });
  expect(response.status).toBe(201);
  return response.text();
}

/** Transaction ids of the STUN messages it got; the DTLS that follows a good check is none. */
function answeredTransactions(client: UdpClient): (string | undefined)[] {
  return client.received
    .map((datagram) => transactionOf(datagram))
    .filter((id) => id !== undefined);
}

function transactionOf(datagram: Uint8Array): string | undefined {
  const id = readStun(datagram)?.transactionId;
  return id && Buffer.from(id).toString('hex');
}
