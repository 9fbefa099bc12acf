/** RTCP of one session (RFC 3550 §6): its reports on audio both ways, and what the client's reports say. */
import { readRtcp, writeRtcp, type ReportBlock, type SenderInfo } from './rtcp.ts';
import { RtpReception } from './rtp-reception.ts';

/** Milliseconds between two reports; each wait is from half to one and a half of it (§6.3.1). */
export const REPORT_INTERVAL = 3_000;

/** Most sources reported on; as many as SRTP lets in, and fewer than the 31 that a report holds. */
const MAX_SOURCES = 8;

/** Milliseconds; a client that says more is mistaken. */
const MAX_RTT = 60_000;

/** Seconds from the NTP epoch, 1900, to the Unix epoch. */
const NTP_OFFSET = 2_208_988_800;
const UINT32 = 2 ** 32;
/** Units of 2^-16 s in a millisecond. */
const SHORT_NTP = 65.536;

export interface RtcpStats {
  /** Round trip as of the client's last report on our audio; undefined before. */
  readonly rttMs: number | undefined;
  /** Of the client's audio, as we receive it. */
  readonly jitterMs: number;
  readonly lost: number;
  readonly received: number;
  /** Of our audio, as the client last reported it; undefined before. */
  readonly outbound: OutboundStats | undefined;
}

export interface OutboundStats {
  readonly jitterMs: number;
  readonly lost: number;
  /** Share lost between the client's last two reports, from 0 to 1. */
  readonly fractionLost: number;
}

export interface RtcpSource {
  readonly ssrc: number;
  readonly cname: string;
  /** Ticks per second, both ways. */
  readonly clockRate: number;
}

/** All times are milliseconds of performance.now(). */
export class RtcpSession {
  readonly #source: RtcpSource;
  readonly #receptions = new Map<number, RtpReception>();
  #speaking: RtpReception | undefined;
  #nextReport: number;
  #packets = 0;
  #octets = 0;
  #lastTimestamp = 0;
  #lastSentAt = 0;
  /** Packets sent as of the last two reports: who was silent since both only reports as a receiver. */
  #reported: [last: number, before: number] = [0, 0];
  #rttMs: number | undefined;
  #outbound: OutboundStats | undefined;

  constructor(source: RtcpSource, now: number) {
    this.#source = source;
    this.#nextReport = now + randomWait() / 2;
  }

  /** Takes note of a packet sent. */
  onSent(timestamp: number, payloadLength: number, now: number): void {
    this.#packets++;
    this.#octets += payloadLength;
    this.#lastTimestamp = timestamp;
    this.#lastSentAt = now;
  }

  /** Takes note of an authentic packet that did not come before. */
  onReceived(
    rtp: { readonly ssrc: number; readonly sequenceNumber: number; readonly timestamp: number },
    now: number,
  ): void {
    let reception = this.#receptions.get(rtp.ssrc);
    if (!reception) {
      if (this.#receptions.size >= MAX_SOURCES) return;
      reception = new RtpReception(rtp.ssrc, rtp.sequenceNumber, this.#source.clockRate);
      this.#receptions.set(rtp.ssrc, reception);
    }
    this.#speaking = reception;
    reception.onPacket(rtp.sequenceNumber, rtp.timestamp, now);
  }

  /** Takes a compound packet in clear. Total; false when it is none. */
  receive(compound: Buffer, now: number): boolean {
    const rtcp = readRtcp(compound);
    for (const { ssrc, sender, blocks } of rtcp?.reports ?? []) {
      if (sender) this.#receptions.get(ssrc)?.onSenderReport(sender, now);
      for (const block of blocks) if (block.ssrc === this.#source.ssrc) this.#onBlock(block, now);
    }
    return rtcp !== undefined;
  }

  /** A compound packet to send when that is due. */
  report(now: number): Buffer | undefined {
    if (now < this.#nextReport) return undefined;
    this.#nextReport = now + randomWait();
    return this.#write(now, false);
  }

  /** The last report, with a goodbye. */
  bye(now: number): Buffer {
    return this.#write(now, true);
  }

  stats(): RtcpStats {
    let [lost, received] = [0, 0];
    for (const reception of this.#receptions.values()) {
      lost += reception.lost;
      received += reception.received;
    }
    const jitterMs = this.#speaking?.jitterMs ?? 0;
    return { rttMs: this.#rttMs, jitterMs, lost, received, outbound: this.#outbound };
  }

  #write(now: number, leaves: boolean): Buffer {
    const { ssrc, cname } = this.#source;
    const sends = this.#packets > this.#reported[1];
    this.#reported = [this.#packets, this.#reported[0]];
    const heard = [...this.#receptions.values()].filter((it) => it.hasNews);
    const blocks = heard.map((it) => it.block(now));
    return writeRtcp(
      { ssrc, sender: sends ? this.#sender(now) : undefined, blocks },
      cname,
      leaves,
    );
  }

  #sender(now: number): SenderInfo {
    const elapsed = ((now - this.#lastSentAt) * this.#source.clockRate) / 1_000;
    return {
      ...ntpTime(now),
      rtpTimestamp: (this.#lastTimestamp + Math.round(elapsed)) % UINT32,
      packets: this.#packets % UINT32,
      octets: this.#octets % UINT32,
    };
  }

  /** RFC 3550 §6.4.1: the round trip is what passed since our report, less what the client held it. */
  #onBlock({ lastReport, delay, jitter, lost, fractionLost }: ReportBlock, now: number): void {
    const jitterMs = (jitter * 1_000) / this.#source.clockRate;
    this.#outbound = { jitterMs, lost, fractionLost: fractionLost / 256 };
    if (lastReport === 0) return;
    const { ntpSeconds, ntpFraction } = ntpTime(now);
    const middle = ((ntpSeconds & 0xffff) << 16) | (ntpFraction >>> 16);
    // Clocks of 2^-16 s may make it seem a little less than nothing.
    const rttMs = Math.max(0, (middle - lastReport - delay) | 0) / SHORT_NTP;
    if (rttMs <= MAX_RTT) this.#rttMs = rttMs;
  }
}

const randomWait = () => REPORT_INTERVAL * (0.5 + Math.random());

function ntpTime(now: number): { ntpSeconds: number; ntpFraction: number } {
  const time = performance.timeOrigin + now;
  const seconds = Math.floor(time / 1_000);
  return {
    ntpSeconds: (seconds + NTP_OFFSET) % UINT32,
    ntpFraction: Math.floor((time / 1_000 - seconds) * UINT32),
  };
}
