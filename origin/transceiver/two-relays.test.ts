/** A client that was given the relays of two regions: media goes by the one it nominates, while it lives. */
import { crc32 } from 'node:zlib';
import { expect, test, vi } from 'vitest';
import { Message, classes, methods } from 'werift';
import { readStun } from '../../protocol/stun.ts';
import { KEEPALIVE } from './ice-lite.ts';
import { attribute, parseSdp } from './sdp.ts';
import { libwebrtcClient } from './testing/libwebrtc-client.ts';
import { RelayShim, type Passing } from './testing/relay-shim.ts';
import { openStage } from './testing/stage.ts';
import { until } from './testing/until.ts';

vi.setConfig({ testTimeout: 60_000 });

const isRtp = (packet: Buffer) => packet[0]! >= 128 && packet[0]! <= 191;

/** Packets of media and checks that passed a relay. */
const passed = (relay: RelayShim, direction: 'up' | 'down', media: boolean) =>
  relay.seen.filter((it) => it.direction === direction && isRtp(it.packet) === media).length;

const isIndication = ({ packet }: Passing) => packet.readUInt16BE(0) === 0x0011;

const attributeOf = (sdp: string, name: string) => attribute(parseSdp(sdp).media[0]!, name)!;

/** A call that goes by `near`, while `far` is proven as well. */
async function connected() {
  const stage = await openStage();
  const near = stage.relay;
  const far = await RelayShim.open(stage.transceiver.trunk);
  // A client that is answered within 50 ms by the first relay never gets to check the second.
  near.filter = () => false;
  const client = await libwebrtcClient();
  const relays = [near.candidate, far.candidate];
  const { answer, call } = stage.create(client.offer, { relays });
  await client.take(answer);
  await until(() => passed(far, 'down', false) > 0);
  near.filter = () => true;
  await client.opened();
  await until(() => client.heard().peak > 4_000);
  await until(() => passed(near, 'up', true) > 0 && passed(near, 'down', true) > 0);
  return {
    near,
    far,
    client,
    session: () => stage.session(call)!,
    /** The client checks the second relay, and is answered. */
    async check({ nominates }: { nominates: boolean }) {
      const check = new Message(methods.BINDING, classes.REQUEST)
        .setAttribute('USERNAME', `${attributeOf(answer, 'ice-ufrag')}:abcd`)
        .setAttribute('PRIORITY', 1)
        .setAttribute('ICE-CONTROLLING', 1n);
      if (nominates) check.setAttribute('USE-CANDIDATE', null);
      check.addMessageIntegrity(Buffer.from(attributeOf(answer, 'ice-pwd'))).addFingerprint();
      far.inject(check.bytes, near.clients()[0]!);
      await until(() =>
        far.seen.some((it) => it.direction === 'down' && it.packet.includes(check.transactionId)),
      );
    },
    async [Symbol.asyncDispose]() {
      await client[Symbol.asyncDispose]();
      await stage[Symbol.asyncDispose]();
      await far.close();
    },
  };
}

test('checks on the second relay do not draw media there until one nominates', async () => {
  await using it = await connected();
  await it.check({ nominates: false });
  expect(it.session().relay).toEqual(it.near.trunk);
  it.near.filter = ({ direction }) => direction === 'down';
  await it.check({ nominates: true });
  expect(it.session().relay).toEqual(it.far.trunk);
});

test('media goes on by the second relay when the first one dies', async () => {
  await using it = await connected();
  it.near.filter = () => false;
  it.far.seen.length = 0;
  await until(() => passed(it.far, 'up', true) > 50 && passed(it.far, 'down', true) > 50);
  expect(it.session().state).toBe('connected');
  it.client.channel.send('still there');
  await until(() => it.client.messages.includes('still there'));
});

test('the second relay is kept alive while media goes by the first', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  try {
    await using it = await connected();
    vi.advanceTimersByTime(KEEPALIVE - 1_000);
    expect(it.far.seen.some(isIndication)).toBe(false);
    vi.advanceTimersByTime(1_000);
    const { packet } = await until(() => it.far.seen.find(isIndication));
    expect(readStun(packet)?.class).toBe('indication');
    expect(packet.readUInt32BE(packet.length - 4)).toBe(
      (crc32(packet.subarray(0, -8)) ^ 0x5354554e) >>> 0,
    );
    expect(it.near.seen.some(isIndication)).toBe(false);
  } finally {
    vi.useRealTimers();
  }
});

test('a client whose first relay is dead from the start gets through by the second', async () => {
  await using stage = await openStage();
  await using client = await libwebrtcClient();
  const far = await RelayShim.open(stage.transceiver.trunk);
  const dead = await RelayShim.open(stage.transceiver.trunk);
  const relays = [dead.candidate, far.candidate];
  await dead.close();
  const { answer } = stage.create(client.offer, { relays });
  await client.take(answer);
  await client.opened();
  await until(() => client.heard().peak > 4_000);
  expect(passed(far, 'down', true)).toBeGreaterThan(0);
  await far.close();
});
