/** The audio a session sends: one RTP stream of its own and its sender reports (RFC 3550). */
import { randomBytes, randomInt } from 'node:crypto';
import {
  RtcpSenderInfo,
  RtcpSourceDescriptionPacket,
  RtcpSrPacket,
  RtpHeader,
  SourceDescriptionChunk,
  SourceDescriptionItem,
} from 'werift';
import type { AudioCodec, AudioPacket } from '../backend/backend.ts';
import type { Srtp } from './srtp.ts';

/** Milliseconds between two sender reports (RFC 3550 §6.2). */
export const REPORT_INTERVAL = 5_000;

/** Largest audio payload sent, so that a packet fits any path. */
const MAX_PAYLOAD = 1_200;

/** Ticks per millisecond of each codec's clock. */
const TICKS: Record<AudioCodec, number> = { opus: 48, pcmu: 8, pcma: 8 };
/** Seconds from the NTP epoch, 1900, to the Unix epoch. */
const NTP_OFFSET = 2_208_988_800;
const CNAME_ITEM = 1;
const UINT32 = 2 ** 32;

export class AudioSender {
  readonly ssrc = randomBytes(4).readUInt32BE();
  readonly cname = randomBytes(9).toString('base64url');
  readonly #codec: AudioCodec;
  readonly #header: RtpHeader;
  readonly #timestampOffset = randomBytes(4).readUInt32BE();
  #firstTimestamp: number | undefined;
  #lastSentAt = 0;
  #lastReportAt = 0;
  #packets = 0;
  #octets = 0;

  constructor(codec: AudioCodec, payloadType: number) {
    this.#codec = codec;
    // A first sequence number below 2^15 keeps the rollover counters of both ends in step (RFC 3711 §3.3.1).
    const sequenceNumber = randomInt(0x8000);
    this.#header = new RtpHeader({ payloadType, sequenceNumber, ssrc: this.ssrc });
  }

  /** One SRTP packet; undefined for a payload that is empty or too large. */
  packet({ payload, timestamp, marker }: AudioPacket, srtp: Srtp): Buffer | undefined {
    if (payload.length === 0 || payload.length > MAX_PAYLOAD) return undefined;
    this.#firstTimestamp ??= timestamp;
    const header = this.#header;
    header.timestamp = (this.#timestampOffset + timestamp - this.#firstTimestamp) >>> 0;
    header.marker = marker;
    const bytes = Buffer.from(payload.buffer, payload.byteOffset, payload.length);
    const packet = srtp.protectRtp(header, bytes);
    header.sequenceNumber = (header.sequenceNumber + 1) & 0xffff;
    this.#lastSentAt = Date.now();
    this.#packets = (this.#packets + 1) % UINT32;
    this.#octets = (this.#octets + payload.length) % UINT32;
    return packet;
  }

  /** A sender report when one is due: audio was sent since the last one, which is long enough ago. */
  report(srtp: Srtp): Buffer | undefined {
    const now = Date.now();
    const hasNews = this.#lastSentAt > this.#lastReportAt;
    if (!hasNews || now - this.#lastReportAt < REPORT_INTERVAL) return undefined;
    this.#lastReportAt = now;
    const elapsed = (now - this.#lastSentAt) * TICKS[this.#codec];
    const senderInfo = new RtcpSenderInfo({
      ntpTimestamp: ntpTime(now),
      rtpTimestamp: (this.#header.timestamp + elapsed) >>> 0,
      packetCount: this.#packets,
      octetCount: this.#octets,
    });
    const name = new SourceDescriptionItem({ type: CNAME_ITEM, text: this.cname });
    const chunk = new SourceDescriptionChunk({ source: this.ssrc, items: [name] });
    return srtp.protectRtcp(
      Buffer.concat([
        new RtcpSrPacket({ ssrc: this.ssrc, senderInfo }).serialize(),
        new RtcpSourceDescriptionPacket({ chunks: [chunk] }).serialize(),
      ]),
    );
  }
}

/** Seconds since 1900 in 32 bits and their fraction in 32 more (RFC 3550 §4). */
function ntpTime(now: number): bigint {
  const seconds = BigInt(Math.floor(now / 1000) + NTP_OFFSET);
  return (seconds << 32n) | ((BigInt(now % 1000) << 32n) / 1000n);
}
