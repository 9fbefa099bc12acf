import { platform } from 'node:os';
import { expect, test } from 'vitest';
import { UdpEnd } from '../../origin/relay/testing/udp-end.ts';
import type { TrunkAddress } from '../../protocol/footprint.ts';
import { Nat, type NatHost } from './nat.ts';

/** Sends from a client inside, and gives what the far side saw of it. */
async function goOut(client: UdpEnd, host: NatHost, far: UdpEnd, text: string) {
  client.send(Buffer.from(text), host.address);
  const { bytes, from } = await far.next();
  expect(String(bytes)).toBe(text);
  return from;
}

function comeIn(far: UdpEnd, to: TrunkAddress, text: string): void {
  far.send(Buffer.from(text), to);
}

async function openScene() {
  const ends = await Promise.all([UdpEnd.open(), UdpEnd.open(), UdpEnd.open()]);
  const [far, alice, bob] = ends;
  const nat = new Nat(far.address);
  const [home, den] = [await nat.host(), await nat.host()];
  const close = async () => {
    await Promise.all([nat[Symbol.asyncDispose](), ...ends.map((end) => end.close())]);
  };
  return { far, alice, bob, nat, home, den, [Symbol.asyncDispose]: close };
}

async function textOf(end: UdpEnd): Promise<string> {
  return String((await end.next()).bytes);
}

test('hosts have ports of their own outside, and answers find the one that asked', async () => {
  await using scene = await openScene();
  const { far, alice, bob, home, den } = scene;
  const [a, b] = [await goOut(alice, home, far, 'a'), await goOut(bob, den, far, 'b')];
  expect(home.outside).toEqual([a]);
  expect(den.outside).toEqual([b]);
  expect(a.port).not.toBe(b.port);
  expect(await goOut(alice, home, far, 'again')).toEqual(a);
  comeIn(far, a, 'to alice');
  comeIn(far, b, 'to bob');
  expect(await textOf(alice)).toBe('to alice');
  expect(await textOf(bob)).toBe('to bob');
});

test('another port: the old one gets in or not, as told', async () => {
  await using scene = await openScene();
  const { far, alice, nat, home } = scene;
  const first = await goOut(alice, home, far, 'first');
  await nat.rebind('open');
  const second = await goOut(alice, home, far, 'second');
  expect(second.port).not.toBe(first.port);
  comeIn(far, first, 'to the first');
  expect(await textOf(alice)).toBe('to the first');
  await nat.rebind('closed');
  const third = await goOut(alice, home, far, 'third');
  comeIn(far, second, 'to the second');
  comeIn(far, third, 'to the third');
  expect(await textOf(alice)).toBe('to the third');
  expect(alice.waiting).toBe(0);
});

test.skipIf(platform() !== 'linux')('another address: all of 127.0.0.0/8 is there', async () => {
  await using scene = await openScene();
  const { far, alice, nat, home } = scene;
  await goOut(alice, home, far, 'first');
  await nat.rebind('closed', '127.0.0.7');
  const from = await goOut(alice, home, far, 'second');
  expect(from.address).toBe('127.0.0.7');
  comeIn(far, from, 'back');
  expect(await textOf(alice)).toBe('back');
});

test('two hosts that swap ports: each goes out by the other’s, and gets what comes to it', async () => {
  await using scene = await openScene();
  const { far, alice, bob, nat, home, den } = scene;
  const [a, b] = [await goOut(alice, home, far, 'a'), await goOut(bob, den, far, 'b')];
  nat.swap(home, den);
  comeIn(far, a, 'to what was alice’s');
  expect(await textOf(bob)).toBe('to what was alice’s');
  expect(await goOut(alice, home, far, 'a')).toEqual(b);
  expect(await goOut(bob, den, far, 'b')).toEqual(a);
});

test('hosts swap all of their ports, or none', async () => {
  await using scene = await openScene();
  const { far, alice, bob, nat, home, den } = scene;
  const [tablet, phone] = await Promise.all([UdpEnd.open(), UdpEnd.open()]);
  const ofHome = [await goOut(alice, home, far, '1'), await goOut(tablet, home, far, '2')];
  const ofDen = [await goOut(bob, den, far, '3')];
  expect(() => nat.swap(home, den)).toThrow('2 ports, and the other 1');
  expect(home.outside).toEqual(ofHome);
  ofDen.push(await goOut(phone, den, far, '4'));
  nat.swap(home, den);
  expect([await goOut(alice, home, far, '1'), await goOut(tablet, home, far, '2')]).toEqual(ofDen);
  expect([await goOut(bob, den, far, '3'), await goOut(phone, den, far, '4')]).toEqual(ofHome);
  await Promise.all([tablet.close(), phone.close()]);
});
