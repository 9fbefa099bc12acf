import { expect, test } from 'vitest';
import { REPORT_INTERVAL, RtcpSession } from './rtcp-session.ts';
import { readRtcp, writeRtcp } from './rtcp.ts';

const CLOCK = 48_000;
const LATER = 2 * REPORT_INTERVAL;

const session = (ssrc: number, now = 0) =>
  new RtcpSession({ ssrc, cname: 'name', clockRate: CLOCK }, now);

/** A packet of the `i`-th 20 ms that `from` sends and `to` gets. */
function talk(from: RtcpSession, to: RtcpSession | undefined, ssrc: number, i: number): void {
  from.onSent(960 * i, 80, 20 * i);
  to?.onReceived({ ssrc, sequenceNumber: i & 0xffff, timestamp: 960 * i }, 20 * i);
}

test('both ends learn round trip, loss and jitter', () => {
  const [a, b] = [session(1), session(2)];
  for (let i = 0; i < 100; i++) {
    talk(a, i % 10 === 5 ? undefined : b, 1, i);
    talk(b, a, 2, i);
  }
  // 40 ms there, 300 ms kept, 40 ms back.
  expect(b.receive(a.report(LATER)!, LATER + 40)).toBe(true);
  expect(a.receive(b.report(LATER + 340)!, LATER + 380)).toBe(true);
  const { rttMs, ...rest } = a.stats();
  expect(rttMs).toBeCloseTo(80, 0);
  expect(rest).toEqual({
    jitterMs: 0,
    lost: 0,
    received: 100,
    outbound: { jitterMs: expect.closeTo(0, 5), lost: 10, fractionLost: 25 / 256 },
  });
  expect(b.stats()).toMatchObject({ rttMs: undefined, lost: 10, received: 90 });
});

test('reports come at uneven times, from half to one and a half of the interval', () => {
  const it = session(1);
  const times: number[] = [];
  for (let now = 0; times.length < 50; now += 10) if (it.report(now)) times.push(now);
  const waits = times.slice(1).map((time, i) => time - times[i]!);
  expect(Math.min(...waits)).toBeGreaterThanOrEqual(REPORT_INTERVAL / 2);
  expect(Math.max(...waits)).toBeLessThanOrEqual(1.5 * REPORT_INTERVAL + 10);
  expect(new Set(waits).size).toBeGreaterThan(10);
});

const first = (compound: Buffer | undefined) => readRtcp(compound!)!.reports[0]!;

test('a sender report tells what was sent, and where the clock stands now', () => {
  const it = session(1);
  for (let i = 0; i < 10; i++) talk(it, undefined, 1, i);
  const { sender } = first(it.report(LATER));
  const elapsed = (LATER - 180) * (CLOCK / 1_000);
  expect(sender).toMatchObject({ packets: 10, octets: 800, rtpTimestamp: 9 * 960 + elapsed });
  const time = performance.timeOrigin + LATER;
  expect(sender!.ntpSeconds - 2_208_988_800).toBe(Math.floor(time / 1_000));
});

test('who has been silent for two reports only reports as a receiver', () => {
  const it = session(1);
  talk(it, undefined, 1, 0);
  const senders = [1, 2, 3].map((i) => first(it.report(i * LATER)).sender !== undefined);
  expect(senders).toEqual([true, true, false]);
});

test('sources that fell silent are reported no more', () => {
  const [a, b] = [session(1), session(2)];
  talk(a, b, 1, 0);
  expect(first(b.report(LATER)).blocks).toHaveLength(1);
  expect(first(b.report(2 * LATER)).blocks).toHaveLength(0);
});

test('the last report says goodbye', () => {
  expect(readRtcp(session(7).bye(0))).toMatchObject({ byes: [7] });
});

test('sources are bounded', () => {
  const it = session(1);
  for (let ssrc = 0; ssrc < 100; ssrc++) {
    it.onReceived({ ssrc, sequenceNumber: 1, timestamp: 1 }, 0);
  }
  expect(first(it.report(LATER)).blocks).toHaveLength(8);
});

test('what a client cannot have measured is no round trip, and what is no RTCP is refused', () => {
  const it = session(1);
  const block = { fractionLost: 0, lost: 0, highestSequence: 0, jitter: 0 };
  const blocks = [{ ...block, ssrc: 1, lastReport: 1, delay: 0x4000_0000 }];
  expect(it.receive(writeRtcp({ ssrc: 2, sender: undefined, blocks }, 'x'), 0)).toBe(true);
  const rtt = it.stats().rttMs;
  expect(rtt === undefined || rtt <= 60_000).toBe(true);
  expect(it.receive(Buffer.from([1, 2, 3]), 0)).toBe(false);
});
