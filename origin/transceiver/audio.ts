/** The audio a session sends: one RTP stream of its own (RFC 3550 §5). */
import { randomBytes, randomInt } from 'node:crypto';
import type { AudioCodec, AudioPacket } from '../backend/backend.ts';
import type { Srtp } from './srtp.ts';

/** Largest audio payload sent, so that a packet fits any path. */
const MAX_PAYLOAD = 1_200;

/** Ticks per second of each codec's clock (RFC 3551 §4.5, RFC 7587 §4.1). */
const CLOCK_RATES: Record<AudioCodec, number> = { opus: 48_000, pcmu: 8_000, pcma: 8_000 };

export class AudioSender {
  readonly ssrc = randomBytes(4).readUInt32BE();
  readonly cname = randomBytes(9).toString('base64url');
  /** Ticks per second. */
  readonly clockRate: number;
  readonly #payloadType: number;
  readonly #timestampOffset = randomBytes(4).readUInt32BE();
  // A first sequence number below 2^15 keeps the rollover counters of both ends in step (RFC 3711 §3.3.1).
  #sequenceNumber = randomInt(0x8000);
  #firstTimestamp: number | undefined;
  #timestamp = 0;

  constructor(codec: AudioCodec, payloadType: number) {
    this.clockRate = CLOCK_RATES[codec];
    this.#payloadType = payloadType;
  }

  /** RTP timestamp of the last packet. */
  get timestamp(): number {
    return this.#timestamp;
  }

  /** One SRTP packet; undefined for a payload that is empty or too large. */
  packet({ payload, timestamp, marker }: AudioPacket, srtp: Srtp): Buffer | undefined {
    if (payload.length === 0 || payload.length > MAX_PAYLOAD) return undefined;
    this.#firstTimestamp ??= timestamp;
    this.#timestamp = (this.#timestampOffset + timestamp - this.#firstTimestamp) >>> 0;
    const fields = {
      payloadType: this.#payloadType,
      sequenceNumber: this.#sequenceNumber,
      timestamp: this.#timestamp,
      ssrc: this.ssrc,
      marker,
    };
    this.#sequenceNumber = (this.#sequenceNumber + 1) & 0xffff;
    return srtp.protectRtp(fields, payload);
  }
}
