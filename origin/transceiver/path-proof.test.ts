/**
 * Who has a session can send from the address of another, authentic checks and media too. So packets move
 * to an address only when the client shows to receive there; a client that does so moves without a gap.
 */
import { randomBytes } from 'node:crypto';
import { expect, test, vi } from 'vitest';
import { Message, classes, methods } from 'werift';
import type { TrunkAddress } from '../../protocol/footprint.ts';
import { readStun } from '../../protocol/stun.ts';
import { Nat } from '../../test/network/nat.ts';
import { MAX_PATHS, PATH_DEFENDED } from './held-paths.ts';
import { checkOf, credentialsIn, sealed } from './testing/checks.ts';
import { libwebrtcClient } from './testing/libwebrtc-client.ts';
import { CHROME } from './testing/offers.ts';
import type { Passing } from './testing/relay-shim.ts';
import { openStage, type Stage } from './testing/stage.ts';
import { until } from './testing/until.ts';
import { weriftClient } from './testing/werift-client.ts';
import { UNPROVEN_PACKETS, UNPROVEN_REFILL } from './unproven-budget.ts';

vi.setConfig({ testTimeout: 60_000 });

const VICTIM: TrunkAddress = { address: '203.0.113.9', port: 4000 };

const isRtp = (packet: Buffer) => packet[0]! >= 128 && packet[0]! <= 191;
const isStun = (packet: Buffer) => packet[0]! <= 3;
const isRequest = (packet: Buffer) => isStun(packet) && readStun(packet)?.class === 'request';

const to = (stage: Stage, { address, port }: TrunkAddress, kind: (packet: Buffer) => boolean) =>
  stage.relay.seen.filter(
    ({ direction, packet, client }) =>
      direction === 'down' && client.address === address && client.port === port && kind(packet),
  );

/** A call of libwebrtc that hears itself. */
async function calling(stage: Stage) {
  const client = await libwebrtcClient();
  const { answer, call } = stage.create(client.offer);
  await client.take(answer);
  await client.opened();
  await until(() => client.heard().peak > 4_000);
  return { client, call, answer, ice: () => stage.session(call)!.counters.ice };
}

test('one spoofed check draws next to nothing, and the client hears on', async () => {
  await using stage = await openStage();
  const { client, call, answer, ice } = await calling(stage);
  await using _ = client;
  const home = stage.session(call)!.client;
  stage.relay.inject(checkOf(credentialsIn(answer)), VICTIM);
  await until(() => ice().probes > 0);
  const heard = client.heard().frames;
  await until(() => client.heard().frames > heard + 100);
  expect(to(stage, VICTIM, isRtp).length).toBeLessThan(10);
  expect(stage.session(call)!.client).toEqual(home);
  expect(ice()).toMatchObject({ moves: 0, withheld: 0 });
});

test('a client that sends all from an address it does not receive at floods no one there', async () => {
  await using stage = await openStage();
  const { client, call, answer, ice } = await calling(stage);
  await using _ = client;
  const home = stage.session(call)!.client!;
  stage.relay.inject(checkOf(credentialsIn(answer)), VICTIM);
  const since = performance.now();
  stage.relay.filter = ({ direction, packet }: Passing) => {
    if (direction === 'down' || !isRtp(packet)) return true;
    stage.relay.inject(packet, VICTIM);
    return false;
  };
  await until(() => ice().withheld > 100);
  const seconds = (performance.now() - since) / 1000;
  const drawn = to(stage, VICTIM, (packet) => isRtp(packet) || isRequest(packet)).length;
  expect(drawn).toBeGreaterThan(UNPROVEN_PACKETS / 2);
  expect(drawn).toBeLessThanOrEqual(UNPROVEN_PACKETS + Math.ceil(seconds * UNPROVEN_REFILL));
  expect(to(stage, VICTIM, isStun).length).toBeGreaterThan(1);
  expect(stage.session(call)!.client).toEqual(home);
  const heard = client.heard().frames;
  await until(() => client.heard().frames > heard + 50);

  // Answers of one who does not see our checks prove nothing.
  const { password } = credentialsIn(client.offer);
  const guess = new Message(methods.BINDING, classes.RESPONSE, randomBytes(12));
  guess.setAttribute('XOR-MAPPED-ADDRESS', ['203.0.113.1', 3478]);
  for (let i = 0; i < 20; i++) stage.relay.inject(sealed(guess, password), VICTIM);
  const probe = to(stage, VICTIM, isRequest)[0]!.packet;
  const id = Buffer.from(readStun(probe)!.transactionId);
  const unsealed = new Message(methods.BINDING, classes.RESPONSE, id);
  stage.relay.inject(unsealed.addFingerprint().bytes, VICTIM);
  const elsewhere = new Message(methods.BINDING, classes.RESPONSE, id);
  stage.relay.inject(sealed(elsewhere, password), home);
  const refused = new Message(methods.BINDING, classes.ERROR, id);
  refused.setAttribute('ERROR-CODE', [401, 'Unauthorized']);
  stage.relay.inject(sealed(refused, password), VICTIM);
  const withheld = ice().withheld;
  await until(() => ice().withheld > withheld + 20);
  expect(ice().moves).toBe(0);
});

test('libwebrtc whose NAT gives it another port is followed, and no sound is lost', async () => {
  await using stage = await openStage();
  await using nat = new Nat(stage.relay.candidate);
  const host = await nat.host();
  const relays = [{ ...stage.relay.candidate, ...host.address }];
  await using client = await libwebrtcClient();
  const { answer, call } = stage.create(client.offer, { relays });
  await client.take(answer);
  await client.opened();
  await until(() => client.heard().peak > 4_000);
  for (let move = 1; move <= 3; move++) {
    await nat.rebind('open');
    await until(() => stage.session(call)!.client?.port === host.outside[0]!.port);
    const heard = client.heard().frames;
    await until(() => client.heard().frames > heard + 50);
    expect(stage.session(call)!.counters.ice).toMatchObject({ moves: move, withheld: 0 });
  }
  client.channel.send('still there');
  await until(() => client.messages.includes('still there'));
  expect(await client.lost()).toBe(0);
});

test('werift answers our checks too', async () => {
  await using stage = await openStage();
  await using nat = new Nat(stage.relay.candidate);
  const host = await nat.host();
  const relays = [{ ...stage.relay.candidate, ...host.address }];
  await using client = await weriftClient();
  const { answer, call } = stage.create(client.offer, { relays });
  await client.take(answer);
  await until(() => client.channel.readyState === 'open');
  await nat.rebind('open');
  client.channel.send('moved');
  await until(() => stage.session(call)!.client?.port === host.outside[0]!.port);
  expect(stage.session(call)!.counters.ice).toMatchObject({ moves: 1, withheld: 0 });
});

test('no other session takes the path of one that is in use', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  try {
    await using stage = await openStage();
    await using client = await weriftClient();
    const { answer, call } = stage.create(client.offer);
    await client.take(answer);
    await until(() => client.channel.readyState === 'open');
    const home = stage.session(call)!.client!;
    const attacker = stage.create(CHROME);
    const contested = () => stage.session(attacker.call)!.counters.ice.contested;
    stage.relay.inject(checkOf(credentialsIn(attacker.answer)), home);
    await until(() => contested() === 1);
    client.channel.send('mine');
    await until(() => client.messages.includes('mine'));

    // A port that its client has lost may be given to another.
    stage.relay.filter = ({ direction }) => direction === 'down';
    await new Promise(setImmediate);
    vi.advanceTimersByTime(PATH_DEFENDED);
    stage.relay.inject(checkOf(credentialsIn(attacker.answer)), home);
    await until(() => stage.session(attacker.call)!.client?.port === home.port);
    expect(contested()).toBe(1);
  } finally {
    vi.useRealTimers();
  }
});

test('a session holds no more paths than it may, and lets all go at its end', async () => {
  await using stage = await openStage();
  const { answer, call } = stage.create(CHROME);
  for (let i = 0; i < 3 * MAX_PATHS; i++) {
    stage.relay.inject(checkOf(credentialsIn(answer)), { ...VICTIM, port: 5000 + i });
  }
  await until(() => stage.session(call)!.counters.ice.checks === 3 * MAX_PATHS);
  expect(stage.transceiver.held.paths).toBe(MAX_PATHS);
  stage.transceiver.end(call, 'acme');
  expect(stage.transceiver.held).toMatchObject({ ufrags: 0, paths: 0 });
});
