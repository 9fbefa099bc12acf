import { expect, test } from 'vitest';
import { TRUNK_DOWN, TRUNK_PASSED } from '../../protocol/trunk.ts';
import type { DropReason } from './counters.ts';
import { MAX_CLIENT_PACKET } from './packet-batch.ts';
import type { Relay } from './relay.ts';
import {
  BINDING_REQUEST,
  BINDING_SUCCESS,
  DTLS,
  RTP,
  check,
  makeFrame,
  stun,
  transactionId,
  type Frame,
} from './testing/packets.ts';
import {
  ANY_PORT,
  HOUR,
  KEY,
  eventually,
  openEnd,
  openRelay,
  openTransceivers,
  ufragFor,
} from './testing/rig.ts';

const FOREIGN_KEY = { id: 'A', key: Buffer.alloc(16, 'foreign') };
const UNKNOWN_KEY = { id: 'Z', key: KEY.key };
const NOWHERE = { address: '192.0.2.1', port: 4000 };

/** That many packets were dropped for that reason; nothing else was, nothing sent and nothing kept. */
async function expectOnlyDrop(relay: Relay, reason: DropReason, count = 1): Promise<void> {
  await eventually(() => expect(relay.counters().drops[reason]).toBe(count));
  const { drops, toClients, toTrunk, sendErrors, flows } = relay.counters();
  const others = Object.entries(drops).filter(([name]) => name !== reason);
  expect(others.filter(([, times]) => times !== 0)).toEqual([]);
  expect([toClients.packets, toTrunk.packets, sendErrors]).toEqual([0, 0, 0]);
  expect(flows).toEqual({ tentative: 0, proven: 0 });
}

test.each<[string, DropReason, () => Buffer]>([
  ['a forged token', 'forged', () => check(ufragFor(1, 5, Date.now() + HOUR, FOREIGN_KEY))],
  ['a token of an unknown key', 'unknown-key', () => check(ufragFor(1, 5, undefined, UNKNOWN_KEY))],
  ['an expired token', 'expired', () => check(ufragFor(1, 5, Date.now() - 60_001))],
  ['a ufrag of another service', 'malformed-ufrag', () => check('abcd')],
  ['a ufrag of the right length', 'malformed-ufrag', () => check('A'.repeat(22) + '-')],
  ['a username without a colon', 'malformed-ufrag', () => usernameOnly(ufragFor(1, 5))],
  ['a token of a cluster without a route', 'unknown-cluster', () => check(ufragFor(9, 5))],
  ['a token of an absent transceiver', 'unknown-transceiver', () => check(ufragFor(1, 6))],
  ['RTP without a flow', 'no-flow', () => RTP],
  ['DTLS without a flow', 'no-flow', () => DTLS],
  ['a check without USERNAME', 'no-flow', () => stun(BINDING_REQUEST, transactionId(), [])],
  ['an answer without a flow', 'no-flow', () => stun(BINDING_SUCCESS, transactionId(), [])],
  ['STUN cut short', 'malformed-stun', () => check(ufragFor(1, 5)).subarray(0, -1)],
  ['TURN channel data', 'not-media', () => Buffer.from([64, 0, 0, 0])],
  ['a trunk frame', 'not-media', () => upFrame({})],
  ['an empty datagram', 'not-media', () => Buffer.alloc(0)],
  ['a giant', 'oversized', () => check(ufragFor(1, 5), transactionId(), MAX_CLIENT_PACKET + 4)],
])('from a client, %s is dropped as %s', async (_name, reason, packet) => {
  const { transceivers, ends } = await openTransceivers(5);
  const relay = await openRelay({ transceivers });
  const client = await openEnd();

  client.send(packet(), relay.listeners[0]!);

  await expectOnlyDrop(relay, reason);
  // The relay still works, and what comes out first is what came after.
  const good = check(ufragFor(1, 5));
  client.send(good, relay.listeners[0]!);
  expect((await ends(5).nextFrame()).frame.payload).toEqual(good);
  expect(client.waiting).toBe(0);
});

test.each<[string, DropReason, (relay: Relay) => Buffer]>([
  ['noise', 'malformed-trunk', () => Buffer.from('noise')],
  ['a frame cut short', 'malformed-trunk', () => upFrame({}).subarray(0, -1)],
  ['a packet of a client', 'malformed-trunk', () => check(ufragFor(1, 5))],
  ['an up frame passed on before', 'loop', () => upFrame({ flags: TRUNK_PASSED })],
  ['an up frame of its own', 'loop', (relay) => upFrame({ proxy: relay.trunk })],
  ['an up frame for elsewhere', 'wrong-cluster', () => upFrame({ payload: check(ufragFor(2, 5)) })],
  ['an up frame without a flow', 'no-flow', () => upFrame({ payload: RTP })],
  ['a client with port 0', 'unusable-address', () => upFrame({ client: { ...NOWHERE, port: 0 } })],
  ['a reply passed on before', 'loop', () => downFrame({ flags: TRUNK_DOWN | TRUNK_PASSED })],
  ['a reply for a strange relay', 'foreign-proxy', () => downFrame({ proxy: NOWHERE })],
  ['a reply for port 0', 'foreign-proxy', () => downFrame({ proxy: ANY_PORT })],
  [
    'a reply for a listener that is not there',
    'unknown-listener',
    (relay) => downFrame({ proxy: relay.trunk, listener: 1 }),
  ],
  [
    'a reply to port 0',
    'unusable-address',
    (relay) => downFrame({ proxy: relay.trunk, client: ANY_PORT }),
  ],
  [
    'a reply to the other family',
    'unusable-address',
    (relay) => downFrame({ proxy: relay.trunk, client: { address: '::1', port: 4000 } }),
  ],
])('from the trunk, %s is dropped as %s', async (_name, reason, frame) => {
  const { transceivers } = await openTransceivers(5);
  const routes = [{ cluster: 2, region: 'eu-central-1', relays: [NOWHERE] }];
  const relay = await openRelay({ transceivers, routes });
  const peer = await openEnd();

  peer.send(frame(relay), relay.trunk);

  await expectOnlyDrop(relay, reason);
  expect(peer.waiting).toBe(0);
});

test('frames before a broken one are kept', async () => {
  const { transceivers, ends } = await openTransceivers(5);
  const relay = await openRelay({ transceivers });
  const peer = await openEnd();
  const payloads = [check(ufragFor(1, 5)), check(ufragFor(1, 5))];
  const frames = payloads.map((payload) => upFrame({ payload }));

  peer.send(Buffer.concat([...frames, Buffer.from('noise')]), relay.trunk);

  for (const payload of payloads) {
    expect((await ends(5).nextFrame()).frame.payload).toEqual(payload);
  }
  await eventually(() => expect(relay.counters().drops['malformed-trunk']).toBe(1));
});

test('whoever is not a peer cannot use the trunk', async () => {
  const { transceivers, ends } = await openTransceivers(5);
  const relay = await openRelay({ transceivers, peers: ['127.0.0.1/32'] });
  const stranger = await openEnd('127.0.0.2');
  const client = await openEnd();

  stranger.send(upFrame({ payload: check(ufragFor(1, 5)) }), relay.trunk);
  stranger.send(downFrame({ proxy: relay.trunk, client: client.address }), relay.trunk);

  await expectOnlyDrop(relay, 'foreign-peer', 2);
  expect(client.waiting + ends(5).waiting).toBe(0);
});

function usernameOnly(ufrag: string): Buffer {
  return stun(BINDING_REQUEST, transactionId(), [[0x0006, Buffer.from(ufrag)]]);
}

function upFrame(fields: Partial<Frame>): Buffer {
  return makeFrame({
    flags: 0,
    listener: 0,
    client: NOWHERE,
    proxy: NOWHERE,
    payload: check(ufragFor(1, 5)),
    ...fields,
  });
}

function downFrame(fields: Partial<Frame>): Buffer {
  return upFrame({ flags: TRUNK_DOWN, payload: RTP, ...fields });
}
