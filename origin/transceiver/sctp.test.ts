/** Bounds of data channels, against a client that keeps to nothing. */
import { expect, test, vi } from 'vitest';
import { RTCSctpTransport } from 'werift';
import { MAX_STREAMS } from './sctp-bounds.ts';
import { MAX_CHANNELS, MAX_HELD_CHUNKS, MAX_WAITING } from './sctp.ts';
import { sctpPair } from './testing/sctp-pair.ts';
import { openStage } from './testing/stage.ts';
import { until } from './testing/until.ts';
import { libwebrtcClient } from './testing/libwebrtc-client.ts';
import type { TransportInternals } from './werift-internals.ts';

vi.setConfig({ testTimeout: 60_000 });

const DATA = 0;
const BINARY = 53;
const UNORDERED = 4;
const BYTE = Buffer.from([1]);
const LABEL = 'x';
const shutdown = { type: 7, body: Buffer.alloc(4) };

test('a burst of 4,000 messages arrives whole and in order, sent in a few passes', async () => {
  const BURST = 4_000;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- werift declares it private
  const prototype = RTCSctpTransport.prototype as unknown as TransportInternals;
  const passes = vi.spyOn(prototype, 'dataChannelFlush');
  try {
    const pair = await sctpPair();
    await pair.send(pair.open(0));
    const before = passes.mock.calls.length;
    for (let i = 0; i < BURST; i++) pair.channels.send(LABEL, `message ${i}`);
    const arrived = () => pair.received.filter((it) => it === DATA).length - 1;
    for (let last = -1; arrived() < BURST && last < arrived();) {
      last = arrived();
      // oxlint-disable-next-line no-await-in-loop -- a client acknowledges what came before more comes
      await pair.send(pair.sack());
    }
    expect(arrived()).toBe(BURST);
    expect(passes.mock.calls.length - before).toBeLessThan(10);
    pair.channels.close();
  } finally {
    passes.mockRestore();
  }
});

test('a burst of messages reaches libwebrtc whole and in order', async () => {
  const BURST = 1_000;
  await using stage = await openStage({
    backend: {
      name: 'burst',
      open: (call) => ({
        audio: () => undefined,
        data(label) {
          for (let i = 0; i < BURST; i++) call.sendData(label, `message ${i}`);
        },
        close: () => undefined,
      }),
    },
  });
  await using client = await libwebrtcClient();
  const { answer, call } = stage.create(client.offer);
  await client.take(answer);
  await client.opened();
  client.channel.send('go');
  await until(() => client.messages.length === BURST);
  expect(client.messages).toEqual(Array.from({ length: BURST }, (_, i) => `message ${i}`));
  expect(stage.session(call)?.counters.data).toMatchObject({ messagesOut: BURST, unsent: 0 });
});

test('few of many small messages leave before the first is acknowledged', async () => {
  const pair = await sctpPair();
  await pair.send(pair.open(0));
  for (let i = 0; i < 1_000; i++) pair.channels.send(LABEL, BYTE);
  await pair.send(pair.data(0, BINARY, BYTE));
  expect(pair.received.filter((it) => it === DATA).length).toBeLessThan(50);
  pair.channels.close();
});

test('messages that nobody acknowledges wait in bounded number', async () => {
  const pair = await sctpPair();
  await pair.send(pair.open(0));
  for (let i = 0; i < MAX_WAITING + 100; i++) pair.channels.send(LABEL, BYTE);
  expect(pair.channels.counters.messagesOut).toBeLessThanOrEqual(MAX_WAITING);
  expect(pair.channels.counters.unsent).toBeGreaterThanOrEqual(100);
  pair.channels.close();
});

test('bytes wait in bounded number, also those of channels that were closed', async () => {
  const pair = await sctpPair();
  const message = Buffer.alloc(262_144);
  for (let round = 0; round < 4; round++) {
    // oxlint-disable-next-line no-await-in-loop -- one after another is the point
    await pair.send(pair.open(0));
    for (let i = 0; i < 20; i++) pair.channels.send(LABEL, message);
    // oxlint-disable-next-line no-await-in-loop -- one after another is the point
    await pair.send(pair.reset(0));
  }
  expect(pair.channels.counters.messagesOut).toBeLessThan(20);
  pair.channels.close();
});

test('an OPEN for a channel that is open gets no second acknowledgement', async () => {
  const pair = await sctpPair();
  for (let i = 0; i < 20; i++) await pair.send(pair.open(0));
  expect(pair.received.filter((it) => it === DATA)).toHaveLength(1);
  pair.channels.close();
});

test('no channel opens whose acknowledgement would wait behind too much', async () => {
  const pair = await sctpPair();
  await pair.send(pair.open(0));
  for (let i = 0; i < MAX_WAITING; i++) pair.channels.send(LABEL, BYTE);
  for (let i = 0; i < 3 * MAX_CHANNELS; i++) {
    await pair.send(pair.open(1));
    await pair.send(pair.reset(1));
  }
  // The channel opened first is still there, and the last one opened is not.
  pair.channels.close();
  expect(pair.openings()).toBeLessThanOrEqual(MAX_CHANNELS + 2);
});

test('streams are bounded, and what comes on others is acknowledged and forgotten', async () => {
  const pair = await sctpPair();
  for (let stream = 0; stream < 3 * MAX_STREAMS; stream++) {
    await pair.send(pair.data(stream, BINARY, BYTE, { flags: 0 }));
  }
  expect(pair.streams()).toBe(MAX_STREAMS);
  expect(pair.position()).toBe(pair.lastTsn());
  expect(pair.abuses).toEqual([]);
  pair.channels.close();
});

test('chunks of endless messages are counted over all streams, be the packets handled or not', async () => {
  const pair = await sctpPair();
  for (let i = 0; pair.abuses.length === 0 && i <= MAX_HELD_CHUNKS; i++) {
    // Both handled at once, so that werift starts a timer that runs.
    pair.channels.receive(pair.packet(shutdown));
    await pair.send(pair.data(i % 50, BINARY, BYTE, { flags: UNORDERED }), shutdown);
  }
  expect(pair.channels.counters.failed).toBeGreaterThan(0);
  expect(pair.abuses[0]).toMatch('more than the receive window');
  pair.channels.close();
});

test('TSNs behind a gap are bounded, however often the association starts anew', async () => {
  const pair = await sctpPair();
  for (let round = 0; pair.abuses.length === 0 && round < 4; round++) {
    for (let i = 0; i < 300; i++) {
      const skip = i === 0 ? 1 : 0;
      await pair.send(pair.data(0, BINARY, BYTE, { flags: UNORDERED | 3, skip }));
    }
    await pair.restart();
  }
  expect(pair.abuses[0]).toMatch('starts anew');
  pair.channels.close();
});

test('a gap that is filled lets all that came behind it through, whatever the digits of the TSNs', async () => {
  const pair = await sctpPair();
  await pair.send(pair.open(0));
  const [missing, ...others] = Array.from({ length: 200 }, () =>
    pair.data(0, BINARY, BYTE, { flags: UNORDERED | 3 }),
  );
  for (const chunk of others.toReversed()) await pair.send(chunk);
  await pair.send(missing!);
  expect(pair.messages).toHaveLength(200);
  expect(pair.position()).toBe(pair.lastTsn());
  pair.channels.close();
});
