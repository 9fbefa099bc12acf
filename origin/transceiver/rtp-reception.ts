/** What one stream lost and how unevenly it came, as a receiver report tells it (RFC 3550 A.1, A.3, A.8). */
import type { ReportBlock, SenderInfo } from './rtcp.ts';

const HALF = 0x8000;
const ROUND = 0x1_00_00;
const MAX_LOST = 2 ** 23 - 1;
const JITTER_GAIN = 1 / 16;

export class RtpReception {
  readonly #ssrc: number;
  /** Ticks per millisecond. */
  readonly #ticks: number;
  /** The first and the newest sequence number, with rounds; kept from turning negative. */
  readonly #first: number;
  #newest: number;
  #received = 0;
  #expectedBefore = 0;
  #receivedBefore = 0;
  #jitter = 0;
  #lastTimestamp = 0;
  #lastArrival = 0;
  /** The last sender report of the stream, and when it came. */
  #report: { readonly middle: number; readonly at: number } | undefined;

  constructor(ssrc: number, firstSequence: number, clockRate: number) {
    this.#ssrc = ssrc;
    this.#ticks = clockRate / 1_000;
    this.#first = firstSequence + ROUND;
    this.#newest = this.#first;
  }

  /** Takes note of an authentic packet that did not come before. @param now Milliseconds. */
  onPacket(sequenceNumber: number, timestamp: number, now: number): void {
    const step = (sequenceNumber - this.#newest) & (ROUND - 1);
    if (step < HALF) this.#newest += step;
    if (this.#received > 0) {
      const late =
        (now - this.#lastArrival) * this.#ticks - ((timestamp - this.#lastTimestamp) | 0);
      this.#jitter += (Math.abs(late) - this.#jitter) * JITTER_GAIN;
    }
    this.#lastArrival = now;
    this.#lastTimestamp = timestamp;
    this.#received++;
  }

  onSenderReport({ ntpSeconds, ntpFraction }: SenderInfo, now: number): void {
    const middle = (((ntpSeconds & 0xffff) << 16) | (ntpFraction >>> 16)) >>> 0;
    this.#report = { middle, at: now };
  }

  get received(): number {
    return this.#received;
  }

  /** Negative when packets came from before the first one. */
  get lost(): number {
    return this.#newest - this.#first + 1 - this.#received;
  }

  get jitterMs(): number {
    return this.#jitter / this.#ticks;
  }

  /** True when packets came since the last block. */
  get hasNews(): boolean {
    return this.#received > this.#receivedBefore;
  }

  /** The block of a report; the next one's share of loss counts from here. */
  block(now: number): ReportBlock {
    const expected = this.#newest - this.#first + 1;
    const expectedNow = expected - this.#expectedBefore;
    const lostNow = expectedNow - (this.#received - this.#receivedBefore);
    this.#expectedBefore = expected;
    this.#receivedBefore = this.#received;
    const share = expectedNow > 0 && lostNow > 0 ? Math.floor((lostNow * 256) / expectedNow) : 0;
    const delay = this.#report ? Math.round((now - this.#report.at) * 65.536) : 0;
    return {
      ssrc: this.#ssrc,
      fractionLost: Math.min(share, 255),
      lost: Math.max(-MAX_LOST, Math.min(MAX_LOST, this.lost)),
      highestSequence: (this.#newest - ROUND) >>> 0,
      jitter: Math.min(Math.floor(this.#jitter), 0xffff_ffff),
      lastReport: this.#report?.middle ?? 0,
      delay: Math.min(delay, 0xffff_ffff),
    };
  }
}
