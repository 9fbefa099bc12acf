/** What a connected client can do with keys that are right; whatever it sends, all other calls go on. */
import { createHmac } from 'node:crypto';
import { crc32 } from 'node:zlib';
import * as fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { Message, RtpHeader, classes, methods } from 'werift';
import { MAX_SOURCES } from './srtp.ts';
import { openStage, type Stage } from './testing/stage.ts';
import { until } from './testing/until.ts';
import { weriftClient, type WeriftClient } from './testing/werift-client.ts';

vi.setConfig({ testTimeout: 120_000 });

const SERVED = { state: 'connected', fault: 0 };

const RUNS = 2_000;
/** Packets between two looks at what is awaited, so that no queue of a socket overflows. */
const BATCH = 50;

async function connected(stage: Stage, client: WeriftClient): Promise<string> {
  const { answer, call } = stage.create(client.offer);
  await client.take(answer);
  await until(() => client.channel.readyState === 'open');
  return call;
}

/** A client that attacks and one that is only there, both in calls. */
async function scene() {
  await using opened = new AsyncDisposableStack();
  const stage = opened.use(await openStage());
  const attacker = opened.use(await weriftClient());
  const victim = opened.use(await weriftClient());
  const { answer, call } = stage.create(attacker.offer);
  const password = Buffer.from(/^a=ice-pwd:(.*)\r$/m.exec(answer)![1]!);
  await attacker.take(answer);
  await until(() => attacker.channel.readyState === 'open');
  const victimCall = await connected(stage, victim);
  const from = stage.session(call)!.client!;
  const [transport] = attacker.connection.dtlsTransports;
  const held = opened.move();
  return {
    stage,
    attacker,
    transport: transport!,
    call,
    ufrag: /^a=ice-ufrag:(.*)\r$/m.exec(answer)![1]!,
    password,
    /** Sends each packet as the attacker, and leaves the transceiver time to read it. */
    async send(packets: Iterable<Buffer>) {
      for (const [i, packet] of [...packets].entries()) {
        stage.relay.inject(packet, from);
        if (i % BATCH === 0) await new Promise(setImmediate);
      }
    },
    /** The victim is served as before, and nothing counts as a fault of ours. */
    async victimServed() {
      victim.channel.send('still here');
      await until(() => victim.messages.includes('still here'));
      const heard = victim.audio.length;
      victim.speak(Buffer.from('and heard'));
      await until(() => victim.audio.length > heard);
      const { fault } = stage.transceiver.dump().counters.drops;
      return { state: stage.session(victimCall)?.state, fault };
    },
    [Symbol.asyncDispose]: () => held.disposeAsync(),
  };
}

const bytes = (maxLength: number) =>
  fc.uint8Array({ maxLength }).map((it) => Buffer.from(it.buffer, it.byteOffset, it.length));

test('authentic RTP with any header and payload', async () => {
  await using it = await scene();
  const packet = fc.record({
    payloadType: fc.oneof(fc.constant(111), fc.nat(127)),
    sequenceNumber: fc.nat(0xffff),
    timestamp: fc.nat(0xffff_ffff),
    ssrc: fc.oneof(fc.constant(1234), fc.nat(0xffff_ffff)),
    marker: fc.boolean(),
    payload: bytes(300),
    padding: fc.option(fc.nat(255), { nil: undefined }),
  });
  const packets = fc.sample(packet, RUNS).flatMap(({ payload, padding, ...fields }) => {
    const header = new RtpHeader({ ...fields, padding: padding !== undefined });
    // What the last byte says of padding need not be true.
    const body = padding === undefined ? payload : Buffer.concat([payload, Buffer.from([padding])]);
    return body.length === 0 ? [] : [it.transport.srtp.encrypt(body, header)];
  });
  await it.send(packets);
  await until(() => (it.stage.session(it.call)?.counters.rtpIn ?? 0) > 0);
  expect(await it.victimServed()).toEqual(SERVED);
});

test('authentic RTCP of any bytes, and reports that are cut, doubled and wrong', async () => {
  await using it = await scene();
  const report = fc
    .record({
      type: fc.oneof(fc.integer({ min: 200, max: 207 }), fc.integer({ min: 192, max: 223 })),
      count: fc.oneof(fc.nat(2), fc.nat(31)),
      // No more than SRTP lets in, so that it is the reports that are read, not the sources counted.
      ssrc: fc.nat(MAX_SOURCES / 2),
      body: bytes(120),
      words: fc.option(fc.oneof(fc.nat(12), fc.nat(0xffff)), { nil: undefined }),
    })
    .map(({ type, count, ssrc, body, words }) => {
      const whole = Buffer.alloc(8 + body.length + (-body.length & 3));
      const length = words ?? whole.length / 4 - 1;
      whole.set([0x80 | count, type, length >> 8, length & 0xff]);
      whole.writeUInt32BE(ssrc, 4);
      whole.set(body, 8);
      return whole;
    });
  const compound = fc
    .array(report, { minLength: 1, maxLength: 4 })
    .map((reports) => Buffer.concat(reports));
  const counters = () => it.stage.session(it.call)!.counters;
  const before = counters();
  await it.send(fc.sample(compound, RUNS).map((plain) => it.transport.srtcp.encrypt(plain)));
  // Some add up and some do not; the client's own reports are few.
  await until(() => counters().rtcpIn > before.rtcpIn + 10);
  await until(() => counters().rtcpRefused > before.rtcpRefused + 10);
  expect(await it.victimServed()).toEqual(SERVED);
});

test('DTLS records of any content', async () => {
  await using it = await scene();
  for (const [i, content] of fc.sample(bytes(1_200), RUNS / 2).entries()) {
    if (content.length > 0) await it.transport.sendData(content);
    if (i % BATCH === 0) await new Promise(setImmediate);
  }
  expect(await it.victimServed()).toEqual(SERVED);
});

test('DCEP messages of any content, on any stream', async () => {
  await using it = await scene();
  const { sctp } = it.attacker.connection.sctpTransport!;
  const opening = fc.record({
    stream: fc.nat(100),
    type: fc.oneof(fc.constantFrom(2, 3), fc.nat(255)),
    body: bytes(60),
    protocol: fc.constantFrom(50, 50, 51, 53, 56, 57),
  });
  for (const { stream, type, body, protocol } of fc.sample(opening, RUNS / 4)) {
    await sctp.send(stream, protocol, Buffer.concat([Buffer.from([type]), body]));
  }
  expect(await it.victimServed()).toEqual(SERVED);
});

test('checks that are authentic and have any attributes', async () => {
  await using it = await scene();
  const attribute = fc.record({ type: fc.nat(0xffff), value: bytes(60) });
  const check = fc.record({
    class: fc.constantFrom(classes.REQUEST, classes.INDICATION, classes.RESPONSE, classes.ERROR),
    attributes: fc.array(attribute, { maxLength: 6 }),
    named: fc.boolean(),
  });
  const packets = fc.sample(check, RUNS).map(({ class: kind, attributes, named }) => {
    const message = new Message(methods.BINDING, kind);
    if (named) message.setAttribute('USERNAME', `${it.ufrag}:abcd`);
    const raw = attributes.map(({ type, value }) => attributeBytes(type, value));
    return seal(Buffer.concat([message.bytes, ...raw]), it.password);
  });
  const before = it.stage.session(it.call)!.counters.ice.checks;
  await it.send(packets);
  // Those without a strange attribute were taken, so the seal is right.
  await until(() => it.stage.session(it.call)!.counters.ice.checks > before + 10);
  expect(await it.victimServed()).toEqual(SERVED);
});

function attributeBytes(type: number, value: Buffer): Buffer {
  const padded = Buffer.alloc(4 + value.length + (-value.length & 3));
  padded.writeUInt16BE(type, 0);
  padded.writeUInt16BE(value.length, 2);
  padded.set(value, 4);
  return padded;
}

/** MESSAGE-INTEGRITY and FINGERPRINT (RFC 8489 §14.5, §14.7) behind attributes that no library would write. */
function seal(message: Buffer, password: Buffer): Buffer {
  const lengthen = (by: number) => {
    const bytesSoFar = Buffer.from(message);
    bytesSoFar.writeUInt16BE(message.length - 20 + by, 2);
    return bytesSoFar;
  };
  const hmac = createHmac('sha1', password).update(lengthen(24)).digest();
  const proven = Buffer.concat([lengthen(24), attributeBytes(0x0008, hmac)]);
  proven.writeUInt16BE(proven.length - 20 + 8, 2);
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE((crc32(proven) ^ 0x5354_554e) >>> 0);
  return Buffer.concat([proven, attributeBytes(0x8028, sum)]);
}
