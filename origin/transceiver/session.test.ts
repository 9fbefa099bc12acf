/** Whole calls over real UDP: libwebrtc and werift as clients, a relay shim in between. */
import { expect, test, vi } from 'vitest';
import { liveDtlsObjects } from './dtls-context.ts';
import { libwebrtcClient } from './testing/libwebrtc-client.ts';
import { openStage } from './testing/stage.ts';
import { until } from './testing/until.ts';
import { weriftClient } from './testing/werift-client.ts';

vi.setConfig({ testTimeout: 60_000 });

const LARGE = 262_144;

/** Which side starts DTLS: the offer leaves it to us, or claims it. */
const SETUPS = ['actpass', 'active', 'passive'] as const;

test.each(SETUPS)('audio and data come back to libwebrtc, offered %s', async (setup) => {
  await using stage = await openStage();
  await using client = await libwebrtcClient();
  const { answer, call } = stage.create(client.offer.replaceAll('actpass', setup));
  expect(answer).toContain(`a=setup:${setup === 'active' ? 'passive' : 'active'}`);
  await client.take(answer);
  await client.opened();

  const large = Buffer.alloc(LARGE, 'x');
  client.channel.send('hello');
  client.channel.send(large);
  client.channel.send('');
  client.channel.send(new Uint8Array(0));
  client.channel.send('bye');
  await until(() => client.messages.length === 5);
  expect(client.messages[0]).toBe('hello');
  const back = client.messages[1]!;
  expect(typeof back !== 'string' && Buffer.from(back).equals(large)).toBe(true);
  expect(client.messages[2]).toBe('');
  expect(client.messages[3]).toHaveProperty('byteLength', 0);
  expect(client.messages[4]).toBe('bye');

  await until(() => client.heard().peak > 4_000);
  const session = stage.session(call)!;
  expect(session.state).toBe('connected');
  expect(session.codec).toBe('opus');
  const { firstStun, ice, dtls, sctp, firstRtpIn, firstRtpOut } = session.timings;
  const order = [firstStun!, ice!, dtls!, firstRtpIn!, firstRtpOut!];
  expect(order).toEqual(order.toSorted((a, b) => a - b));
  expect(sctp).toBeGreaterThanOrEqual(dtls!);
  expect(session.counters).toMatchObject({ rtpRefused: 0, rtpUnexpected: 0 });
  expect(session.counters.data).toMatchObject({ refused: 0, failed: 0, unsent: 0 });
});

test('a client that offers only a data channel gets one', async () => {
  await using stage = await openStage();
  await using client = await libwebrtcClient({ audio: false });
  const { answer, call } = stage.create(client.offer);
  await client.take(answer);
  await client.opened();
  client.channel.send('hello');
  await until(() => client.messages.length === 1);
  expect(stage.session(call)?.codec).toBeUndefined();
});

test.each([
  { format: '0', codec: 'pcmu' },
  { format: '8', codec: 'pcma' },
])('$codec goes both ways when the client prefers it', async ({ format, codec }) => {
  await using stage = await openStage();
  await using client = await libwebrtcClient();
  const preferring = client.offer.replace(
    new RegExp(`^(m=audio \\d+ \\S+) (.*) ${format}( .*)?$`, 'm'),
    `$1 ${format} $2$3`,
  );
  const { answer, call } = stage.create(preferring);
  expect(answer).toContain(`a=rtpmap:${format} ${codec.toUpperCase()}/8000`);
  await client.take(answer);
  await until(() => client.heard().peak > 4_000);
  expect(stage.session(call)?.codec).toBe(codec);
});

test('hanging up ends the session and tells the client', async () => {
  await using stage = await openStage();
  await using client = await libwebrtcClient();
  const { answer, call } = stage.create(client.offer);
  await client.take(answer);
  await client.opened();
  expect(stage.transceiver.end(call, 'another tenant')).toBe(false);
  expect(stage.transceiver.end(call, 'acme')).toBe(true);
  expect(stage.transceiver.end(call, 'acme')).toBe(false);
  expect(await stage.ended(call)).toBe('deleted');
  await until(() => client.channel.readyState === 'closed');
});

test('a client that closes ends the session', async () => {
  await using stage = await openStage();
  const client = await libwebrtcClient();
  const { answer, call } = stage.create(client.offer);
  await client.take(answer);
  await client.opened();
  await client[Symbol.asyncDispose]();
  expect(await stage.ended(call)).toBe('client-hangup');
});

test('a relay that takes another trunk address is followed', async () => {
  await using stage = await openStage();
  await using client = await weriftClient();
  const { answer, call } = stage.create(client.offer);
  await client.take(answer);
  await until(() => client.channel.readyState === 'open');
  client.speak(Buffer.from('before'));
  await until(() => client.audio.length === 1);
  await stage.relay.move();
  client.channel.send('after');
  await until(() => client.messages.length === 1);
  client.speak(Buffer.from('after'));
  await until(() => client.audio.length === 2);
  expect(stage.session(call)?.relay).toEqual(stage.relay.trunk);
  expect(client.audio.map(String)).toEqual(['before', 'after']);
});

test('reports go both ways while audio does, and tell the round trip', async () => {
  await using stage = await openStage();
  await using client = await libwebrtcClient();
  const { answer, call } = stage.create(client.offer);
  const since = performance.now();
  await client.take(answer);
  const quality = await until(() => {
    const it = stage.session(call)?.quality;
    return it?.rttMs !== undefined && it;
  });
  expect(quality.received).toBeGreaterThan(0);
  expect(quality.rttMs).toBeLessThan(performance.now() - since);
  expect(quality.outbound).toMatchObject({ lost: 0 });
  const { rtcpIn, rtcpOut, rtcpRefused } = stage.session(call)!.counters;
  expect(Math.min(rtcpIn, rtcpOut)).toBeGreaterThan(0);
  expect(rtcpRefused).toBe(0);
});

test('a client that never comes is given up after the setup timeout', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  try {
    await using stage = await openStage();
    await using client = await weriftClient();
    const { call } = stage.create(client.offer);
    vi.advanceTimersByTime(14_000);
    expect(stage.session(call)?.state).toBe('checking');
    vi.advanceTimersByTime(2_000);
    expect(await stage.ended(call)).toBe('setup-timeout');
  } finally {
    vi.useRealTimers();
  }
});

test('consent ends 30 s after the last check', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  try {
    await using stage = await openStage();
    await using client = await weriftClient();
    const { answer, call } = stage.create(client.offer);
    await client.take(answer);
    await until(() => stage.session(call)?.state === 'connected');
    stage.relay.filter = () => false;
    vi.advanceTimersByTime(31_000);
    expect(await stage.ended(call)).toBe('consent-expired');
  } finally {
    vi.useRealTimers();
  }
});

test('a session ends when its ufrag expires', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  try {
    await using stage = await openStage();
    await using client = await weriftClient();
    const { answer, call } = stage.create(client.offer, { expiresAt: Date.now() + 60_000 });
    await client.take(answer);
    await until(() => stage.session(call)?.state === 'connected');
    vi.setSystemTime(Date.now() + 61_000);
    expect(await stage.ended(call)).toBe('expired');
  } finally {
    vi.useRealTimers();
  }
});

test('closing a transceiver leaves nothing behind', async () => {
  const stage = await openStage();
  await using client = await libwebrtcClient();
  await using late = await weriftClient();
  const { answer } = stage.create(client.offer);
  stage.create(late.offer);
  await client.take(answer);
  await client.opened();
  expect(liveDtlsObjects()).toBe(3);
  const { transceiver, relay } = stage;
  await transceiver.close();
  expect(liveDtlsObjects()).toBe(0);
  expect(transceiver.dump().sessions).toEqual([]);
  expect(transceiver.report()).toMatchObject({ sessions: 0, draining: true });
  expect(() => stage.create(late.offer)).toThrow('takes no new sessions');
  await transceiver.close();
  await until(() => client.channel.readyState === 'closed');
  await relay.close();
});

test('a full transceiver and a taken call or ufrag are refused', async () => {
  await using stage = await openStage({ capacity: 2 });
  await using client = await weriftClient();
  const { call } = stage.create(client.offer, { ufrag: 'u'.repeat(23) });
  expect(() => stage.create(client.offer, { call })).toThrow('already');
  expect(() => stage.create(client.offer, { ufrag: 'u'.repeat(23) })).toThrow('already');
  stage.create(client.offer);
  expect(() => stage.create(client.offer)).toThrow('all the sessions it can');
  expect(liveDtlsObjects()).toBe(3);
});

test('a back end that fails ends its call and no other', async () => {
  let opened = 0;
  const backend = {
    name: 'broken',
    open: () => {
      if (++opened === 1) throw new Error('no');
      return {
        audio: () => undefined,
        data: () => {
          throw new Error('no');
        },
        close: () => undefined,
      };
    },
  };
  await using stage = await openStage({ backend });
  await using first = await weriftClient();
  const one = stage.create(first.offer);
  await first.take(one.answer);
  expect(await stage.ended(one.call)).toBe('backend-failed');
  await using second = await weriftClient();
  const two = stage.create(second.offer);
  await second.take(two.answer);
  await until(() => second.channel.readyState === 'open');
  second.channel.send('x');
  expect(await stage.ended(two.call)).toBe('backend-failed');
});

test.each([
  ['data', 'backend-failed'],
  ['close', 'deleted'],
] as const)(
  'a back end whose async %s rejects ends its call, not the process',
  async (method, expected) => {
    const unhandled = vi.fn<(reason: unknown) => void>();
    process.on('unhandledRejection', unhandled);
    try {
      const methods = { audio: () => undefined, data: () => undefined, close: () => undefined };
      const rejects = { [method]: () => Promise.reject(new Error('no')) };
      const backend = { name: 'broken', open: () => ({ ...methods, ...rejects }) };
      await using stage = await openStage({ backend });
      await using client = await weriftClient();
      const { answer, call } = stage.create(client.offer);
      await client.take(answer);
      await until(() => client.channel.readyState === 'open');
      if (method === 'data') client.channel.send('x');
      else stage.transceiver.end(call, 'acme');
      const reason = await stage.ended(call);
      expect(reason).toBe(expected);
      await new Promise(setImmediate);
      expect(unhandled).not.toHaveBeenCalled();
    } finally {
      process.off('unhandledRejection', unhandled);
    }
  },
);
