/** What was captured or is sent from elsewhere is refused, and each kind of it shows in a counter of its own. */
import { expect, test, vi } from 'vitest';
import type { TrunkAddress } from '../../protocol/footprint.ts';
import { isRtcp } from './srtp.ts';
import { openStage, type Stage } from './testing/stage.ts';
import { until } from './testing/until.ts';
import { weriftClient, type WeriftClient } from './testing/werift-client.ts';

vi.setConfig({ testTimeout: 60_000 });

const STRANGER: TrunkAddress = { address: '203.0.113.9', port: 4000 };
const HANDSHAKE = 22;
const APPLICATION_DATA = 23;
const CLIENT_HELLO = 1;

async function connected(stage: Stage, client: WeriftClient, setup: string): Promise<string> {
  const { answer, call } = stage.create(client.offer.replaceAll('actpass', setup));
  await client.take(answer);
  await until(() => client.channel.readyState === 'open');
  return call;
}

async function echo(client: WeriftClient, text: string): Promise<void> {
  client.channel.send(text);
  await until(() => client.messages.includes(text));
}

const sentUp = (stage: Stage) =>
  stage.relay.seen.filter((it) => it.direction === 'up').map((it) => it.packet);
const sentTo = (stage: Stage, client: TrunkAddress) =>
  stage.relay.seen.filter((it) => it.direction === 'down' && it.client.port === client.port);
const isClientHello = (packet: Buffer) => packet[0] === HANDSHAKE && packet[13] === CLIENT_HELLO;
const isMedia = (packet: Buffer) => packet[0]! >= 128 && packet[0]! <= 191;

test.each(['actpass', 'active'])('a late ClientHello, where the offer was %s', async (setup) => {
  await using stage = await openStage();
  // Whoever is the DTLS client, the hello is one that a client sends.
  await using other = await weriftClient();
  await connected(stage, other, 'active');
  const hello = sentUp(stage).find(isClientHello)!;
  await using client = await weriftClient();
  const call = await connected(stage, client, setup);
  const drops = () => stage.session(call)!.counters.dtlsDrops['late-plaintext'];
  const before = drops();
  stage.relay.inject(hello, stage.session(call)!.client!);
  await until(() => drops() > before);
  expect(drops()).toBe(before + 1);
  await echo(client, 'still here');
});

test('packets of a call that are sent again', async () => {
  await using stage = await openStage();
  await using client = await weriftClient();
  const call = await connected(stage, client, 'actpass');
  const from = stage.session(call)!.client!;
  stage.relay.seen.length = 0;
  await echo(client, 'once');
  client.speak(Buffer.from('heard once'));
  await until(() => sentUp(stage).some((it) => isMedia(it) && isRtcp(it)));
  await until(() => client.audio.length > 0);
  await until(() => stage.session(call)!.counters.rtcpIn > 0);
  const captured = sentUp(stage);
  const again = {
    rtp: captured.filter((it) => isMedia(it) && !isRtcp(it)),
    rtcp: captured.filter((it) => isMedia(it) && isRtcp(it)),
    data: captured.filter((it) => it[0] === APPLICATION_DATA),
  };
  const refused = () => {
    const { rtpRefused, rtcpRefused, dtlsDrops } = stage.session(call)!.counters;
    return { rtp: rtpRefused, rtcp: rtcpRefused, data: dtlsDrops.replayed };
  };
  const before = refused();
  for (const packet of Object.values(again).flat()) stage.relay.inject(packet, from);
  await echo(client, 'after all that');
  expect(refused()).toEqual({
    rtp: before.rtp + again.rtp.length,
    rtcp: before.rtcp + again.rtcp.length,
    data: before.data + again.data.length,
  });
  expect(Math.min(...Object.values(again).map((it) => it.length))).toBeGreaterThan(0);
  expect(client.messages).toEqual(['once', 'after all that']);
  expect(client.audio).toHaveLength(1);
});

test('DTLS and media from an address that no check has proven', async () => {
  await using stage = await openStage();
  await using client = await weriftClient();
  await connected(stage, client, 'active');
  client.speak(Buffer.from('hello'));
  await until(() => client.audio.length > 0);
  const hello = sentUp(stage).find(isClientHello)!;
  const strangers = sentUp(stage).filter((it) => it[0]! >= 20);
  // One session is in a call, and one waits for its first check.
  await using awaited = await weriftClient();
  const { call } = stage.create(awaited.offer.replaceAll('actpass', 'active'));
  const drops = () => stage.transceiver.dump().counters.drops['unknown-path'];
  const before = drops();
  for (const packet of [hello, ...strangers]) stage.relay.inject(packet, STRANGER);
  await until(() => drops() === before + 1 + strangers.length);
  await echo(client, 'still here');
  expect(sentTo(stage, STRANGER)).toEqual([]);
  expect(stage.session(call)).toMatchObject({ state: 'checking', counters: { dtlsIn: 0 } });
});
