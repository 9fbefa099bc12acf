/** What attackers and broken peers send, and that none of it comes through or ends anything. */
import { randomBytes } from 'node:crypto';
import * as fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { Message, classes, methods } from 'werift';
import type { TrunkAddress } from '../../protocol/footprint.ts';
import { liveDtlsObjects } from './dtls-context.ts';
import { libwebrtcClient } from './testing/libwebrtc-client.ts';
import { openStage, type Stage } from './testing/stage.ts';
import { until } from './testing/until.ts';
import { forgedCertificate, weriftClient, type WeriftClient } from './testing/werift-client.ts';

vi.setConfig({ testTimeout: 60_000 });

/** Our DTLS role is the server's when the offer is active, else the client's. */
const SETUPS = [
  ['client', 'actpass'],
  ['server', 'active'],
] as const;

const UFRAG = 'u'.repeat(23);
const ATTACKER: TrunkAddress = { address: '203.0.113.9', port: 4000 };

const down = (stage: Stage) => stage.relay.seen.filter((it) => it.direction === 'down');

async function echo(client: WeriftClient, text: string): Promise<string | Buffer> {
  const before = client.messages.length;
  client.channel.send(text);
  return until(() => client.messages.slice(before).find((it) => it === text));
}

async function connected(stage: Stage, client: WeriftClient, setup = 'actpass'): Promise<string> {
  const { answer, call } = stage.create(client.offer.replaceAll('actpass', setup));
  await client.take(answer);
  await until(() => client.channel.readyState === 'open');
  return call;
}

/** A check as a client nominates with, before it is sealed. */
const check = (ufrag = UFRAG) =>
  new Message(methods.BINDING, classes.REQUEST)
    .setAttribute('USERNAME', `${ufrag}:abcd`)
    .setAttribute('PRIORITY', 1)
    .setAttribute('ICE-CONTROLLING', 1n)
    .setAttribute('USE-CANDIDATE', null);

const record = (type: number, body: Uint8Array, version = 0xfefd) => {
  const header = Buffer.alloc(13);
  header[0] = type;
  header.writeUInt16BE(version, 1);
  header.writeUInt16BE(9, 9);
  header.writeUInt16BE(body.length, 11);
  return Buffer.concat([header, body]);
};

describe('a peer that cannot prove its certificate is refused', () => {
  test.each(SETUPS)('another key signs; we are the DTLS %s', async (_, setup) => {
    await using stage = await openStage();
    await using forger = await weriftClient({ certificate: await forgedCertificate() });
    const { answer, call } = stage.create(forger.offer.replaceAll('actpass', setup));
    await forger.take(answer);
    expect(await stage.ended(call)).toBe('dtls-failed');
    expect(stage.detail(call)).toMatch(/^DTLS handshake: .*signature/);
    expect(stage.transceiver.counters().ended['dtls-failed']).toBe(1);
    expect(liveDtlsObjects()).toBe(1);
  });

  test.each(SETUPS)('another fingerprint is announced; we are the DTLS %s', async (_, setup) => {
    await using stage = await openStage();
    await using client = await weriftClient();
    const other = randomBytes(32).toString('hex').toUpperCase().match(/../g)!.join(':');
    const offer = client.offer
      .replaceAll('actpass', setup)
      .replaceAll(/(a=fingerprint:sha-256) .*/g, `$1 ${other}`);
    const { answer, call } = stage.create(offer);
    await client.take(answer);
    expect(await stage.ended(call)).toBe('dtls-failed');
    expect(stage.detail(call)).toMatch('has not the fingerprint of its offer');
    expect(stage.transceiver.counters().ended['dtls-failed']).toBe(1);
    expect(liveDtlsObjects()).toBe(1);
  });

  test.each(SETUPS)(
    'the same peer with its own certificate is let in; DTLS %s',
    async (_, setup) => {
      await using stage = await openStage();
      await using client = await weriftClient();
      await connected(stage, client, setup);
      expect(await echo(client, 'hello')).toBe('hello');
    },
  );
});

test.each(SETUPS)('no nonce is used twice under one key; we are the DTLS %s', async (_, setup) => {
  await using stage = await openStage();
  await using client = await libwebrtcClient();
  const { answer } = stage.create(client.offer.replaceAll('actpass', setup));
  await client.take(answer);
  await client.opened();
  client.channel.send(new Uint8Array(100_000));
  await until(() => client.messages.length === 1);
  const nonces: string[] = [];
  for (const { packet } of down(stage).filter((it) => it.packet[0]! >= 20 && it.packet[0]! <= 63)) {
    for (let at = 0; at < packet.length; at += 13 + packet.readUInt16BE(at + 11)) {
      // An AES-GCM record begins with its explicit nonce, 8 bytes (RFC 5288 §3).
      if (packet.readUInt16BE(at + 3) > 0) nonces.push(packet.toString('hex', at + 13, at + 21));
    }
  }
  expect(nonces.length).toBeGreaterThan(90);
  expect(new Set(nonces).size).toBe(nonces.length);
});

describe('a check that is not proven gets no answer and leaves nothing but a count', () => {
  const UNPROVEN = { unproven: 1 };
  test.each<[string, (password: Buffer) => Message, object]>([
    ['no MESSAGE-INTEGRITY', () => check().addFingerprint(), UNPROVEN],
    ['neither it nor FINGERPRINT', () => check(), UNPROVEN],
    [
      'another key',
      () =>
        check()
          .addMessageIntegrity(Buffer.from('p'.repeat(24)))
          .addFingerprint(),
      UNPROVEN,
    ],
    ['no FINGERPRINT', (password) => check().addMessageIntegrity(password), UNPROVEN],
    [
      'what follows MESSAGE-INTEGRITY',
      (password) =>
        new Message(methods.BINDING, classes.REQUEST)
          .setAttribute('USERNAME', `${UFRAG}:abcd`)
          .addMessageIntegrity(password)
          .setAttribute('USE-CANDIDATE', null)
          .addFingerprint(),
      UNPROVEN,
    ],
    [
      'an unknown ufrag',
      (password) => check('v'.repeat(23)).addMessageIntegrity(password).addFingerprint(),
      { unknown: 1 },
    ],
  ])('%s', async (_, make, counted) => {
    await using stage = await openStage();
    await using client = await weriftClient();
    const { answer, call } = stage.create(client.offer, { ufrag: UFRAG });
    const password = Buffer.from(/a=ice-pwd:(.*)\r\n/.exec(answer)![1]!);
    stage.relay.inject(make(password).bytes, ATTACKER);
    // A proven check that comes later is answered, so that there is something to wait for.
    const proven = check().addMessageIntegrity(password).addFingerprint();
    stage.relay.inject(proven.bytes, { ...ATTACKER, port: 4001 });
    await until(() => down(stage).length > 0);
    expect(down(stage).map((it) => it.client.port)).not.toContain(ATTACKER.port);
    expect(stage.session(call)?.client?.port).toBe(4001);
    const { checks, unproven } = stage.session(call)!.counters.ice;
    const unknown = stage.transceiver.dump().counters.drops['unknown-ufrag'];
    expect({ checks, unproven, unknown }).toEqual({
      checks: 1,
      unproven: 0,
      unknown: 0,
      ...counted,
    });
  });

  test('sent again from elsewhere', async () => {
    await using stage = await openStage();
    await using client = await weriftClient();
    const { answer, call } = stage.create(client.offer, { ufrag: UFRAG });
    const password = Buffer.from(/a=ice-pwd:(.*)\r\n/.exec(answer)![1]!);
    const seal = (message: Message) => message.addMessageIntegrity(password).addFingerprint().bytes;
    const captured = seal(check());
    const honest = { ...ATTACKER, port: 4001 };
    stage.relay.inject(captured, honest);
    stage.relay.inject(captured, ATTACKER);
    // A retransmission by the same path is answered, and so is a check of its own.
    stage.relay.inject(captured, honest);
    stage.relay.inject(seal(check()), honest);
    const answers = () => down(stage).filter((it) => it.packet[0]! <= 3);
    await until(() => answers().length >= 3);
    expect(answers().map((it) => it.client.port)).toEqual([4001, 4001, 4001]);
    expect(stage.session(call)?.counters.ice).toMatchObject({ checks: 3, replayed: 1, moves: 0 });
  });

  test('a role conflict is answered with 487, by the client address in its frame', async () => {
    await using stage = await openStage();
    await using client = await weriftClient();
    const { answer, call } = stage.create(client.offer, { ufrag: UFRAG });
    const password = Buffer.from(/a=ice-pwd:(.*)\r\n/.exec(answer)![1]!);
    const controlled = new Message(methods.BINDING, classes.REQUEST)
      .setAttribute('USERNAME', `${UFRAG}:abcd`)
      .setAttribute('ICE-CONTROLLED', 1n);
    stage.relay.inject(controlled.addMessageIntegrity(password).addFingerprint().bytes, ATTACKER);
    const { packet, client: to } = await until(() => down(stage)[0]);
    expect(to).toEqual(ATTACKER);
    expect(packet.includes('Role Conflict')).toBe(true);
    expect(stage.session(call)?.state).toBe('checking');
  });
});

describe('plaintext records cannot end a live session', () => {
  test.each(SETUPS)('we are the DTLS %s', async (_, setup) => {
    await using stage = await openStage();
    await using client = await weriftClient();
    const call = await connected(stage, client, setup);
    const from = stage.session(call)!.client!;
    const handshake = stage.relay.seen
      .filter((it) => it.packet[0]! >= 20 && it.packet[0]! <= 63)
      .map((it) => it.packet);
    const clientHello = handshake.find((it) => it[0] === 22 && it[13] === 1)!;
    expect(clientHello).toBeDefined();
    const records = [
      record(40, Buffer.alloc(7)), // unknown type
      record(21, Buffer.from([1, 0])), // warning: close_notify
      record(21, Buffer.from([2, 40])), // fatal: handshake_failure
      record(20, Buffer.from([1])),
      record(22, Buffer.alloc(12)), // HelloRequest
      record(22, randomBytes(60)),
      record(23, Buffer.from('hello')),
      record(22, clientHello.subarray(13), 0x0303),
      clientHello,
      clientHello.subarray(0, 40),
      ...handshake,
      ...Array.from({ length: 200 }, (__, i) =>
        Buffer.concat([Buffer.from([20 + (i % 44)]), randomBytes(i)]),
      ),
      // Epoch 1, as an attacker guesses it.
      ...[20, 21, 22, 23, 24, 63].map((type) => {
        const guess = record(type, randomBytes(40));
        guess.writeUInt16BE(1, 3);
        return guess;
      }),
    ];
    for (const it of records) stage.relay.inject(it, from);
    expect(await echo(client, 'still here')).toBe('still here');
    client.speak(Buffer.from('and heard'));
    await until(() => client.audio.length > 0);
    expect(stage.session(call)?.state).toBe('connected');
  });

  test('nor one in the making', async () => {
    await using stage = await openStage();
    await using client = await weriftClient();
    const spoilers = [
      record(21, Buffer.from([2, 40])),
      record(21, Buffer.from([1, 0])),
      record(40, Buffer.alloc(7)),
      record(23, Buffer.from('hello')),
    ];
    // Each real DTLS packet is preceded by those of an attacker who sees and spoofs.
    stage.relay.filter = ({ direction, packet, client: from }) => {
      const isDtls = packet[0]! >= 20 && packet[0]! <= 63;
      if (direction === 'up' && isDtls) for (const it of spoilers) stage.relay.inject(it, from);
      return true;
    };
    await connected(stage, client, 'active');
    expect(await echo(client, 'made it')).toBe('made it');
  });
});

test('random bytes on the trunk are dropped and counted, and disturb no call', async () => {
  await using stage = await openStage();
  await using client = await weriftClient();
  const call = await connected(stage, client);
  const from = stage.session(call)!.client!;
  const captured = stage.relay.seen.filter((it) => it.direction === 'up').map((it) => it.packet);
  const any = fc.oneof(
    fc.uint8Array({ minLength: 1, maxLength: 300 }),
    fc
      .tuple(fc.constantFrom(...captured), fc.nat(), fc.integer({ min: 0, max: 255 }), fc.nat())
      .map(([packet, at, value, cut]) => {
        const mutated = Buffer.from(packet.subarray(0, 1 + (cut % packet.length)));
        mutated[at % mutated.length] = value;
        return mutated;
      }),
  );
  const runs = fc.sample(
    fc.record({ packet: any, framed: fc.boolean(), spoofed: fc.boolean() }),
    3_000,
  );
  for (const [i, { packet, framed, spoofed }] of runs.entries()) {
    if (!framed) stage.relay.injectRaw(packet);
    else stage.relay.inject(packet, spoofed ? from : ATTACKER);
    // Leaves the socket time to read, so that its queue does not overflow.
    if (i % 50 === 0) await new Promise(setImmediate);
  }
  expect(await echo(client, 'still here')).toBe('still here');
  const { counters } = stage.transceiver.dump();
  expect(counters.drops.fault).toBe(0);
  expect(counters.drops['not-a-frame']).toBeGreaterThan(0);
  expect(counters.drops['unknown-path']).toBeGreaterThan(0);
  expect(stage.session(call)?.state).toBe('connected');
});

test('frames from strangers are dropped and counted', async () => {
  await using stage = await openStage({ peers: ['10.0.0.0/8'] });
  stage.relay.inject(Buffer.from([0]), ATTACKER);
  await expect.poll(() => stage.transceiver.dump().counters.drops['not-a-peer']).toBe(1);
});
