import { expect, onTestFinished, test } from 'vitest';
import { FuzzClient } from './testing/fuzz-client.ts';
import { CLIENT_SEEDS } from './testing/fuzz-seeds.ts';
import { RTP, check, success, transactionId } from './testing/packets.ts';
import { Random } from './testing/random.ts';
import {
  HOUR,
  eventually,
  openEnd,
  openRelay,
  openTransceivers,
  prove,
  ufragFor,
} from './testing/rig.ts';
import { UdpEnd } from './testing/udp-end.ts';

/** Datagrams sent before the relay has taken them all: what any socket holds. */
const WINDOW = 50;

/** Other tests take another one each day. */
const SEED = 1;

const FOREIGN = { id: 'A', key: Buffer.alloc(16, 'foreign') };

test('datagrams of 0 to 11 bytes go nowhere before a check, and media behind it', async () => {
  const { transceivers, ends } = await openTransceivers(5);
  const relay = await openRelay({ transceivers });
  const client = await openEnd();

  for (const bytes of [...tiny(0), ...tiny(0x80), ...tiny(0xff)]) {
    client.send(bytes, relay.listeners[0]!);
  }

  await eventually(() => expect(relay.counters().fromClients.packets).toBe(36));
  const { drops, flows, toTrunk } = relay.counters();
  expect(drops).toMatchObject({ 'malformed-stun': 11, 'no-flow': 11, 'not-media': 14 });
  expect([flows, toTrunk.packets]).toEqual([{ tentative: 0, proven: 0 }, 0]);
  await prove(client, relay, ends(5), ufragFor(1, 5));
  for (const bytes of tiny(0x80).slice(1)) {
    client.send(bytes, relay.listeners[0]!);
    expect((await ends(5).nextFrame()).frame.payload).toEqual(bytes);
  }
});

test('a client whose port changes with each check is heard and answered at the newest', async () => {
  const { transceivers, ends } = await openTransceivers(5);
  const relay = await openRelay({ transceivers });
  const ufrag = ufragFor(1, 5);

  for (let changes = 0; changes < 12; changes++) {
    const client = await UdpEnd.open();
    onTestFinished(() => client.close());
    await prove(client, relay, ends(5), ufrag);
    client.send(RTP, relay.listeners[0]!);
    const { frame } = await ends(5).nextFrame();
    expect([frame.client, frame.payload]).toEqual([client.address, RTP]);
  }

  expect(relay.counters()).toMatchObject({ flows: { tentative: 0, proven: 12 }, repointings: 0 });
});

test('two sessions on one address and port are both answered there', async () => {
  const { transceivers, ends } = await openTransceivers(5, 6);
  const relay = await openRelay({ transceivers });
  const client = await openEnd();
  const sessions = [
    { end: ends(5), ufrag: ufragFor(1, 5) },
    { end: ends(6), ufrag: ufragFor(1, 6) },
  ];

  for (let round = 0; round < 3; round++) {
    for (const { end, ufrag } of sessions) {
      const id = transactionId();
      client.send(check(ufrag, id), relay.listeners[0]!);
      await end.answerNext(() => success(id));
      expect((await client.next()).bytes).toEqual(success(id));
    }
    client.send(RTP, relay.listeners[0]!);
    expect((await ends(5).nextFrame()).frame.payload).toEqual(RTP);
  }
  expect(relay.counters().flows).toEqual({ tentative: 0, proven: 1 });
});

test('whatever comes over the network, a call that is there goes on, and nothing else begins', async () => {
  const { transceivers, ends } = await openTransceivers(5);
  const relay = await openRelay({ transceivers });
  const [client, stranger] = [await openEnd(), await openEnd()];
  const ufrag = ufragFor(1, 5);
  await prove(client, relay, ends(5), ufrag);
  const bad = [
    ufragFor(1, 5, Date.now() - HOUR),
    ufragFor(1, 5, undefined, FOREIGN),
    ufragFor(9, 5),
  ];
  const fuzz = new FuzzClient(new Random(SEED), bad, CLIENT_SEEDS);
  const packet = Buffer.alloc(4096);
  const count = 40 * WINDOW;

  for (let sent = 0; sent < count; sent += WINDOW) {
    for (let i = 0; i < WINDOW; i++) {
      const length = fuzz.write(packet, 0);
      stranger.send(Buffer.from(packet.subarray(0, length)), relay.listeners[0]!);
    }
    await eventually(() => expect(relay.counters().fromClients.packets).toBe(received(sent)));
    client.send(RTP, relay.listeners[0]!);
    expect((await ends(5).nextFrame()).frame.payload).toEqual(RTP);
  }

  expect(relay.counters().flows).toEqual({ tentative: 0, proven: 1 });
  expect(stranger.waiting + ends(5).waiting).toBe(0);
});

/** Of 0 to 11 bytes. */
function tiny(first: number): Buffer[] {
  return Array.from({ length: 12 }, (_, length) => Buffer.alloc(length, first));
}

/** The check, and for each window its datagrams and one of the call's. */
function received(sentBefore: number): number {
  return 1 + sentBefore + sentBefore / WINDOW + WINDOW;
}
