/** Counts packets of audio, and those that came more than once. */
import { isRtcp } from '../../origin/transceiver/srtp.ts';

/** RFC 7983 §7: first byte of RTP and RTCP. */
const FIRST_RTP = 128;
const LAST_RTP = 191;

/** RFC 3550 §5.1: bytes before the payload, and where the fields are. */
const RTP_HEADER_LENGTH = 12;
const SEQUENCE_NUMBER = 2;
const SSRC = 8;

export class RtpLedger {
  readonly #seen = new Set<string>();
  #total = 0;

  /** @param packet RTP; later rounds of its 16-bit numbers count as the same again. */
  note(packet: Buffer): void {
    this.#total++;
    this.#seen.add(`${rtpSource(packet)} ${packet.readUInt16BE(SEQUENCE_NUMBER)}`);
  }

  get total(): number {
    return this.#total;
  }

  /** How many there would be had each come once. */
  get distinct(): number {
    return this.#seen.size;
  }
}

/** Total on any bytes. */
export function isRtp(packet: Buffer): boolean {
  const [first = 0] = packet;
  const inRange = first >= FIRST_RTP && first <= LAST_RTP;
  return inRange && packet.length >= RTP_HEADER_LENGTH && !isRtcp(packet);
}

/** The SSRC of an RTP packet, which is in clear under SRTP. */
export function rtpSource(packet: Buffer): number {
  return packet.readUInt32BE(SSRC);
}
