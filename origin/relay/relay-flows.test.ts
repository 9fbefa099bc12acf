import { expect, test } from 'vitest';
import {
  BINDING_SUCCESS,
  RTP,
  check,
  replyTo,
  stun,
  success,
  transactionId,
} from './testing/packets.ts';
import {
  eventually,
  openEnd,
  openRelay,
  openTransceivers,
  prove,
  ufragFor,
} from './testing/rig.ts';

test('a relay that lost its flows carries replies at once and the rest after the next check', async () => {
  const { transceivers, ends } = await openTransceivers(5);
  const first = await openRelay({ transceivers });
  const client = await openEnd();
  const ufrag = ufragFor(1, 5);
  await prove(client, first, ends(5), ufrag);
  client.send(RTP, first.listeners[0]!);
  const { frame } = await ends(5).nextFrame();
  await first.close();
  const relay = await openRelay({ transceivers, listeners: first.listeners, trunk: first.trunk });

  ends(5).send(replyTo(frame, RTP), relay.trunk);
  expect((await client.next()).bytes).toEqual(RTP);

  client.send(RTP, relay.listeners[0]!);
  await eventually(() => expect(relay.counters().drops['no-flow']).toBe(1));
  expect(relay.counters().toTrunk.packets).toBe(0);

  await prove(client, relay, ends(5), ufrag);
  client.send(RTP, relay.listeners[0]!);
  expect((await ends(5).nextFrame()).frame.payload).toEqual(RTP);
});

test('a tentative flow already carries packets, to the transceiver of its newest token', async () => {
  const { transceivers, ends } = await openTransceivers(5, 6);
  const relay = await openRelay({ transceivers });
  const client = await openEnd();

  client.send(check(ufragFor(1, 5)), relay.listeners[0]!);
  await ends(5).nextFrame();
  client.send(check(ufragFor(1, 6)), relay.listeners[0]!);
  await ends(6).nextFrame();
  client.send(RTP, relay.listeners[0]!);

  expect((await ends(6).nextFrame()).frame.payload).toEqual(RTP);
  expect(relay.counters().flows).toEqual({ tentative: 1, proven: 0 });
});

test('a token beats the flow table, yet moves a proven flow only once it is answered', async () => {
  const { transceivers, ends } = await openTransceivers(5, 6);
  const relay = await openRelay({ transceivers, limits: { tokenQuiet: 0 } });
  const client = await openEnd();
  await prove(client, relay, ends(5), ufragFor(1, 5));
  const id = transactionId();
  const other = check(ufragFor(1, 6), id);

  client.send(other, relay.listeners[0]!);
  const { frame, from } = await ends(6).nextFrame();
  expect(frame.payload).toEqual(other);
  client.send(RTP, relay.listeners[0]!);
  expect((await ends(5).nextFrame()).frame.payload).toEqual(RTP);
  expect(relay.counters().repointings).toBe(0);

  ends(6).send(replyTo(frame, success(id)), from);
  await client.next();
  client.send(RTP, relay.listeners[0]!);
  expect((await ends(6).nextFrame()).frame.payload).toEqual(RTP);
  expect(relay.counters()).toMatchObject({ repointings: 1, flows: { tentative: 0, proven: 1 } });
  expect(ends(5).waiting).toBe(0);
});

test('a flow whose own token is still in use does not move, whoever is answered', async () => {
  const { transceivers, ends } = await openTransceivers(5, 6);
  const relay = await openRelay({ transceivers });
  const client = await openEnd();
  await prove(client, relay, ends(5), ufragFor(1, 5));

  await prove(client, relay, ends(6), ufragFor(1, 6));

  client.send(RTP, relay.listeners[0]!);
  expect((await ends(5).nextFrame()).frame.payload).toEqual(RTP);
  expect(relay.counters().repointings).toBe(0);
});

test('answers that are no success of that very check move nothing', async () => {
  const { transceivers, ends } = await openTransceivers(5, 6);
  const relay = await openRelay({ transceivers });
  const client = await openEnd();
  await prove(client, relay, ends(5), ufragFor(1, 5));
  const id = transactionId();
  client.send(check(ufragFor(1, 6), id), relay.listeners[0]!);
  const { frame, from } = await ends(6).nextFrame();
  const answers = [
    stun(0x0111, id, []),
    success(transactionId()),
    stun(BINDING_SUCCESS, id, []).subarray(0, 19),
    RTP,
  ];

  for (const answer of answers) {
    ends(6).send(replyTo(frame, answer), from);
    expect((await client.next()).bytes).toEqual(answer);
  }

  client.send(RTP, relay.listeners[0]!);
  expect((await ends(5).nextFrame()).frame.payload).toEqual(RTP);
  expect(relay.counters().repointings).toBe(0);
});

test('a late answer of the old transceiver does not take a flow back', async () => {
  const { transceivers, ends } = await openTransceivers(5, 6);
  const relay = await openRelay({ transceivers });
  const client = await openEnd();
  const late = transactionId();
  client.send(check(ufragFor(1, 5), late), relay.listeners[0]!);
  const { frame, from } = await ends(5).nextFrame();
  await prove(client, relay, ends(6), ufragFor(1, 6));

  ends(5).send(replyTo(frame, success(late)), from);
  await client.next();

  client.send(RTP, relay.listeners[0]!);
  expect((await ends(6).nextFrame()).frame.payload).toEqual(RTP);
});

test('a fresh token for the same transceiver, as of an ICE restart, is no re-pointing', async () => {
  const { transceivers, ends } = await openTransceivers(5);
  const relay = await openRelay({ transceivers });
  const client = await openEnd();

  await prove(client, relay, ends(5), ufragFor(1, 5));
  await prove(client, relay, ends(5), ufragFor(1, 5));

  expect(relay.counters()).toMatchObject({ repointings: 0, flows: { tentative: 0, proven: 1 } });
});

test('one address cannot fill the table with flows nobody answers', async () => {
  const { transceivers } = await openTransceivers(5);
  const relay = await openRelay({ transceivers, limits: { maxTentativePerSource: 2 } });
  const clients = await Promise.all([openEnd(), openEnd(), openEnd()]);
  const elsewhere = await openEnd('127.0.0.2');

  for (const client of clients) client.send(check(ufragFor(1, 5)), relay.listeners[0]!);
  elsewhere.send(check(ufragFor(1, 5)), relay.listeners[0]!);

  await eventually(() => expect(relay.counters().flows.tentative).toBe(3));
  expect(relay.counters().drops['tentative-limit']).toBe(1);
});

test('flows end when they are idle, or never proven', async () => {
  const { transceivers, ends } = await openTransceivers(5);
  const relay = await openRelay({ transceivers, limits: { idle: 100, tentative: 100 } });
  const [proven, tentative] = [await openEnd(), await openEnd()];
  await prove(proven, relay, ends(5), ufragFor(1, 5));
  tentative.send(check(ufragFor(1, 5)), relay.listeners[0]!);
  await ends(5).nextFrame();

  await eventually(() => expect(relay.counters().expiredFlows).toBe(2));

  expect(relay.counters().flows).toEqual({ tentative: 0, proven: 0 });
});

test('a transceiver that moved is found at its new address by the flows it has', async () => {
  const { transceivers, ends } = await openTransceivers(5);
  const relay = await openRelay({ transceivers });
  const client = await openEnd();
  await prove(client, relay, ends(5), ufragFor(1, 5));
  const moved = await openEnd();
  transceivers.add(5, moved.address);

  client.send(RTP, relay.listeners[0]!);
  expect((await moved.nextFrame()).frame.payload).toEqual(RTP);

  transceivers.add(5, { address: 'moved.example', port: 1 });
  client.send(RTP, relay.listeners[0]!);
  await eventually(() => expect(relay.counters().drops['unknown-transceiver']).toBe(1));
});
