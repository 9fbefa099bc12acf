/** ICE restarts (RFC 8445 §9): what the session holds goes on, by the old path until the new one is chosen. */
import { randomBytes } from 'node:crypto';
import { expect, test, vi } from 'vitest';
import { readStun } from '../../protocol/stun.ts';
import type { IceCredentials } from './ice-credentials.ts';
import { checkOf, credentialsIn } from './testing/checks.ts';
import { libwebrtcClient } from './testing/libwebrtc-client.ts';
import { CHROME } from './testing/offers.ts';
import { openStage, type Stage } from './testing/stage.ts';
import { until } from './testing/until.ts';

vi.setConfig({ testTimeout: 60_000 });

const CLIENT: IceCredentials = { ufrag: 'next', password: 'p'.repeat(24) };
const ADDRESS = '203.0.113.9';

const newUfrag = () => randomBytes(23).toString('hex').slice(0, 23);

function restart(stage: Stage, call: string, client = CLIENT, ufrag = newUfrag()): IceCredentials {
  const session = stage.transceiver.find(call, 'acme')!;
  return credentialsIn(session.restart(ufrag, client, [stage.relay.candidate]));
}

/** Whether a check from that port is answered. */
async function isAnswered(stage: Stage, check: Buffer, port: number): Promise<boolean> {
  const id = check.subarray(8, 20);
  const { drops } = stage.transceiver.dump().counters;
  const dropped = drops['unknown-ufrag'];
  stage.relay.inject(check, { address: ADDRESS, port });
  return until(() => {
    if (stage.relay.seen.some((it) => it.direction === 'down' && it.packet.includes(id))) {
      return { answered: true };
    }
    const now = stage.transceiver.dump().counters.drops['unknown-ufrag'];
    return now > dropped && { answered: false };
  }).then(({ answered }) => answered);
}

test('libwebrtc restarts, and loses no packet of sound by it', async () => {
  await using stage = await openStage();
  await using client = await libwebrtcClient();
  const { answer, call } = stage.create(client.offer);
  const first = credentialsIn(answer);
  await client.take(answer);
  await client.opened();
  await until(() => client.heard().peak > 4_000);
  const before = stage.session(call)!;

  const offer = await client.connection.createOffer({ iceRestart: true });
  await client.connection.setLocalDescription(offer);
  const theirs = credentialsIn(offer.sdp);
  expect(theirs.ufrag).not.toBe(credentialsIn(client.offer).ufrag);
  const second = restart(stage, call, theirs);
  await client.take(
    answer.replaceAll(first.ufrag, second.ufrag).replaceAll(first.password, second.password),
  );

  const isNew = (packet: Buffer) =>
    packet[0]! <= 3 && readStun(packet)?.username?.toString().startsWith(`${second.ufrag}:`);
  await until(() => stage.relay.seen.some((it) => it.direction === 'up' && isNew(it.packet)));
  const heard = client.heard().frames;
  await until(() => client.heard().frames > heard + 200);
  client.channel.send('still there');
  await until(() => client.messages.includes('still there'));

  const after = stage.session(call)!;
  expect(after.timings.dtls).toBe(before.timings.dtls);
  expect(after.counters).toMatchObject({ rtpRefused: 0, ice: { restarts: 1, withheld: 0 } });
  expect(await client.lost()).toBe(0);
});

test('the ufrag of before is good until the next restart', async () => {
  await using stage = await openStage();
  const { answer, call } = stage.create(CHROME);
  const generations = [credentialsIn(answer)];
  const check = (generation: number, port: number) =>
    isAnswered(stage, checkOf(generations[generation]!), port);
  expect(await check(0, 4000)).toBe(true);
  generations.push(restart(stage, call));
  expect(await check(0, 4000)).toBe(true);
  expect(await check(1, 4001)).toBe(true);
  generations.push(restart(stage, call));
  expect(await check(0, 4000)).toBe(false);
  expect(await check(1, 4001)).toBe(true);
  expect(await check(2, 4002)).toBe(true);
  stage.transceiver.end(call, 'acme');
  expect(await check(1, 4001)).toBe(false);
  expect(await check(2, 4002)).toBe(false);
});

test('a password is good for the ufrag of its own generation alone', async () => {
  await using stage = await openStage();
  const { answer, call } = stage.create(CHROME);
  const { password } = credentialsIn(answer);
  const { ufrag } = restart(stage, call);
  stage.relay.inject(checkOf({ ufrag, password }), { address: ADDRESS, port: 4000 });
  await until(() => stage.session(call)!.counters.ice.unproven === 1);
  expect(stage.session(call)!.client).toBeUndefined();
});

test('the selected path stays until the new generation nominates, and is not taken back', async () => {
  await using stage = await openStage();
  const { answer, call } = stage.create(CHROME);
  const first = credentialsIn(answer);
  const port = () => stage.session(call)!.client?.port;
  await isAnswered(stage, checkOf(first), 4000);
  const second = restart(stage, call);
  expect(port()).toBe(4000);
  await isAnswered(stage, checkOf(second), 4001);
  expect(port()).toBe(4001);
  await isAnswered(stage, checkOf(first), 4000);
  expect(port()).toBe(4001);
});
