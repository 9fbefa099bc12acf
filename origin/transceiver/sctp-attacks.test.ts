/** What an authenticated client can do with SCTP; whatever it sends, the process and the call live on. */
import { randomBytes } from 'node:crypto';
import * as fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { openStage, type Stage } from './testing/stage.ts';
import { dataBody, sctpPacket, words, type Chunk } from './testing/sctp-packets.ts';
import { until } from './testing/until.ts';
import { weriftClient, type WeriftClient } from './testing/werift-client.ts';

vi.setConfig({ testTimeout: 60_000 });

/** The client's side of the association, which its attacks must fit. */
interface Association {
  readonly remoteVerificationTag: number;
  readonly localTsn: number;
  readonly lastReceivedTsn: number;
}

async function attacker(stage: Stage, client: WeriftClient) {
  const { answer, call } = stage.create(client.offer);
  await client.take(answer);
  await until(() => client.channel.readyState === 'open');
  const transport = client.connection.sctpTransport!;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- an attacker knows what werift keeps private
  const association = transport.sctp as unknown as Association;
  const send = (chunk: Chunk) =>
    transport.dtlsTransport.sendData(sctpPacket(association.remoteVerificationTag, chunk));
  return { call, association, send };
}

async function echo(client: WeriftClient, text: string): Promise<string | Buffer> {
  client.channel.send(text);
  return until(() => client.messages.find((it) => it === text));
}

const zeroParameter = words(0);

describe('a packet that werift must not see is refused, and the call goes on', () => {
  test.each<[string, (at: Association) => Chunk]>([
    ['a chunk of length zero', () => ({ type: 14, body: Buffer.alloc(0), length: 0 })],
    ['a chunk longer than its packet', () => ({ type: 4, body: Buffer.alloc(8), length: 400 })],
    ['an unknown chunk', () => ({ type: 77, body: Buffer.alloc(8) })],
    ['a zero-length parameter in RE-CONFIG', () => ({ type: 130, body: zeroParameter })],
    [
      'a zero-length parameter in INIT',
      () => ({ type: 1, body: Buffer.concat([randomBytes(16), zeroParameter]) }),
    ],
    ['a zero-length parameter in HEARTBEAT', () => ({ type: 4, body: zeroParameter })],
    ['a zero-length cause in ERROR', () => ({ type: 9, body: zeroParameter })],
    ['a truncated SACK', () => ({ type: 3, body: words(0, 0x1000) })],
    [
      'a SACK with fewer gaps than it says',
      ({ lastReceivedTsn }) => ({ type: 3, body: words(lastReceivedTsn, 0x1ffff, 0xffff_0000) }),
    ],
    [
      'a SACK of endless gaps',
      ({ lastReceivedTsn }) => ({
        type: 3,
        body: words(
          lastReceivedTsn,
          0x1ffff,
          40 << 16,
          ...Array.from({ length: 40 }, () => 0x0001_ffff),
        ),
      }),
    ],
    [
      'a SACK of what was never sent',
      ({ lastReceivedTsn }) => ({ type: 3, body: words(lastReceivedTsn + 1_000_000, 0x1ffff, 0) }),
    ],
    [
      'a FORWARD TSN far ahead',
      ({ localTsn }) => ({ type: 192, body: words(localTsn + 0x7fff_0000) }),
    ],
    [
      'DATA far ahead',
      ({ localTsn }) => ({
        type: 0,
        flags: 3,
        body: dataBody(localTsn + 0x7fff_0000, 0, 51, Buffer.alloc(10)),
      }),
    ],
    [
      'DATA without data',
      ({ localTsn }) => ({ type: 0, flags: 3, body: dataBody(localTsn, 0, 51, Buffer.alloc(0)) }),
    ],
    ['a short stream reset', () => ({ type: 130, body: Buffer.from('000d000600000000', 'hex') })],
  ])('%s', async (_, make) => {
    await using stage = await openStage();
    await using client = await weriftClient();
    const { call, association, send } = await attacker(stage, client);
    await send(make(association));
    await until(() => stage.session(call)?.counters.data?.refused === 1);
    expect(await echo(client, 'still here')).toBe('still here');
  });
});

/** Sends chunks no faster than they arrive, so that none is lost, until the session ends. */
async function flood(
  stage: Stage,
  attack: Awaited<ReturnType<typeof attacker>>,
  chunks: Iterable<Chunk>,
) {
  let sent = 0;
  const received = () => stage.session(attack.call)?.counters.dtlsIn;
  const before = received()!;
  for (const chunk of chunks) {
    await attack.send(chunk);
    if (++sent % 50 === 0) await until(() => (received() ?? Infinity) >= before + sent);
    if (received() === undefined) return;
  }
}

test('a message that never ends is held within bounds', async () => {
  await using stage = await openStage();
  await using client = await weriftClient();
  const attack = await attacker(stage, client);
  const first = attack.association.localTsn;
  const endless = Array.from({ length: 5_000 }, (_, i) => {
    const body = dataBody(first + i, 9, 51, Buffer.alloc(1));
    return { type: 0, flags: i === 0 ? 2 : 0, body };
  });
  await flood(stage, attack, endless);
  expect(await stage.ended(attack.call)).toBe('abuse');
});

test('DATA behind a gap that is never filled is held within bounds', async () => {
  await using stage = await openStage();
  await using client = await weriftClient();
  const attack = await attacker(stage, client);
  const first = attack.association.localTsn + 1;
  const behindGap = Array.from({ length: 1_500 }, (_, i) => {
    const body = dataBody(first + i, 9, 51, Buffer.alloc(1));
    return { type: 0, flags: 3, body };
  });
  await flood(stage, attack, behindGap);
  const session = stage.session(attack.call);
  expect(session?.counters.data?.refused).toBeGreaterThan(400);
  expect(session?.state).toBe('connected');
});

test('channels beyond the bound are not opened', async () => {
  await using stage = await openStage();
  await using client = await weriftClient();
  const { call } = await attacker(stage, client);
  const channels = Array.from({ length: 80 }, (_, i) =>
    client.connection.createDataChannel(`c${i}`),
  );
  await until(() => channels.filter((it) => it.readyState === 'open').length === 63);
  expect(await echo(client, 'still here')).toBe('still here');
  expect(channels.filter((it) => it.readyState === 'open')).toHaveLength(63);
  expect(stage.session(call)?.state).toBe('connected');
});

test('unknown messages and payload protocols are ignored', async () => {
  await using stage = await openStage();
  await using client = await weriftClient();
  const { call } = await attacker(stage, client);
  const { sctp } = client.connection.sctpTransport!;
  for (const protocol of [0, 50, 52, 54, 99]) {
    await sctp.send(client.channel.id, protocol, Buffer.from([2]));
    await sctp.send(client.channel.id, protocol, randomBytes(20));
    await sctp.send(41, protocol, Buffer.from([3, 0]));
  }
  expect(await echo(client, 'still here')).toBe('still here');
  expect(stage.session(call)?.state).toBe('connected');
});

test('random packets of right checksum and tag do no harm', async () => {
  await using stage = await openStage();
  await using client = await weriftClient();
  const { send } = await attacker(stage, client);
  const chunk = fc.record({
    type: fc.oneof(fc.constantFrom(0, 1, 2, 3, 4, 5, 8, 9, 10, 11, 14, 130, 192), fc.nat(255)),
    flags: fc.nat(7),
    body: fc.uint8Array({ maxLength: 80 }),
    length: fc.option(fc.nat(200), { nil: undefined }),
  });
  for (const [i, { type, flags, body, length }] of fc.sample(chunk, 3_000).entries()) {
    // ABORT and SHUTDOWN end an association, as they may.
    if (type === 6 || type === 7) continue;
    await send({ type, flags, body, ...(length === undefined ? {} : { length }) });
    if (i % 50 === 0) await new Promise(setImmediate);
  }
  // A random INIT may have reset the association; the process must still take and serve new calls.
  await using next = await weriftClient();
  const { answer } = stage.create(next.offer);
  await next.take(answer);
  await until(() => next.channel.readyState === 'open');
  expect(await echo(next, 'still here')).toBe('still here');
});
