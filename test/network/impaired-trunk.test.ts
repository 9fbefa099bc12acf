import { expect, test } from 'vitest';
import { RTP, makeFrame, replyTo } from '../../origin/relay/testing/packets.ts';
import { UdpEnd } from '../../origin/relay/testing/udp-end.ts';
import { ImpairedTrunk } from './impaired-trunk.ts';

const CLIENT = { address: '192.0.2.1', port: 4711 };

async function openScene() {
  const [ingress, home] = await Promise.all([UdpEnd.open(), UdpEnd.open()]);
  const trunk = await ImpairedTrunk.open({
    ingress: ingress.address,
    home: home.address,
    impairment: {},
    seed: 1,
  });
  const close = async () => {
    await Promise.all([trunk[Symbol.asyncDispose](), ingress.close(), home.close()]);
  };
  const up = (payload: Buffer) => {
    return makeFrame({ flags: 0, listener: 0, client: CLIENT, proxy: ingress.address, payload });
  };
  return { ingress, home, trunk, up, [Symbol.asyncDispose]: close };
}

test('replies come back through it to the relay that sent, which knows itself in each frame', async () => {
  await using scene = await openScene();
  const { ingress, home, trunk, up } = scene;
  const datagram = Buffer.concat([up(RTP), up(Buffer.from([22, 1]))]);
  ingress.send(datagram, trunk.home);
  for (const payload of [RTP, Buffer.from([22, 1])]) {
    const { frame, from } = await home.nextFrame();
    expect(frame).toMatchObject({ client: CLIENT, payload, proxy: from });
    expect(frame.proxy).not.toEqual(ingress.address);
    home.send(replyTo(frame, payload), frame.proxy);
  }
  for (const payload of [RTP, Buffer.from([22, 1])]) {
    const { frame, from } = await ingress.nextFrame();
    expect(frame).toMatchObject({ client: CLIENT, payload, proxy: ingress.address });
    expect(from).toEqual(trunk.home);
  }
  expect(trunk.audioUp).toMatchObject({ total: 1, distinct: 1 });
  expect(trunk.up.counts.packets).toBe(1);
  expect(trunk.down.counts.packets).toBe(2);
});

test('what is not of the trunk passes as it is', async () => {
  await using scene = await openScene();
  const { ingress, home, trunk, up } = scene;
  const halfFrame = Buffer.concat([up(RTP).subarray(0, 45)]);
  for (const junk of [Buffer.from('junk'), halfFrame]) {
    ingress.send(junk, trunk.home);
    expect((await home.next()).bytes).toEqual(junk);
  }
});
