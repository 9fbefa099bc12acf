/** SRTP and SRTCP both ways for one session (RFC 3711, RFC 7714). */
import type { SrtpKeys } from './dtls.ts';
import { MAX_PACKET_LENGTH, work } from './evp.ts';
import { ReplayWindow } from './replay.ts';
import { readRtpHeader, writeRtpHeader, type RtpFields, RTP_HEADER_LENGTH } from './rtp-header.ts';
import {
  RTCP_CLEAR_LENGTH,
  SRTCP_INDEX_LENGTH,
  newPacketCipher,
  srtcpIndexAt,
  type PacketCipher,
} from './srtp-cipher.ts';
import { sessionKeys } from './srtp-keys.ts';

/** Most sources a client may send from; a browser's audio has one. */
export const MAX_SOURCES = 8;

const SRTCP_INDICES = 2 ** 31;

export interface ReceivedRtp {
  readonly payloadType: number;
  readonly sequenceNumber: number;
  readonly timestamp: number;
  readonly ssrc: number;
  readonly marker: boolean;
  /** Without header extensions and padding; a view of the packet, which is decrypted in place. */
  readonly payload: Uint8Array;
  /** True when no packet of its source was newer. */
  readonly newest: boolean;
}

/** True for RTCP among packets of RFC 7983's RTP range (RFC 5761 §4). */
export function isRtcp(packet: Uint8Array): boolean {
  return packet.length >= 2 && packet[1]! >= 192 && packet[1]! <= 223;
}

export class Srtp {
  readonly #profile: SrtpKeys['profile'];
  readonly #ciphers: Record<'rtpIn' | 'rtpOut' | 'rtcpIn' | 'rtcpOut', PacketCipher>;
  readonly #rtpIn = new Map<number, ReplayWindow>();
  readonly #rtcpIn = new Map<number, ReplayWindow>();
  /** The index of each own source's last packet. */
  readonly #rtpOut = new Map<number, number>();
  #rtcpIndex = 0;
  #open = true;

  /** Holds native memory until close(). */
  constructor({ profile, localKey, localSalt, remoteKey, remoteSalt }: SrtpKeys) {
    this.#profile = profile;
    const outgoing = (protocol: 'rtp' | 'rtcp') =>
      newPacketCipher(profile, sessionKeys(localKey, localSalt, protocol), 'seal');
    const incoming = (protocol: 'rtp' | 'rtcp') =>
      newPacketCipher(profile, sessionKeys(remoteKey, remoteSalt, protocol), 'open');
    this.#ciphers = {
      rtpIn: incoming('rtp'),
      rtpOut: outgoing('rtp'),
      rtcpIn: incoming('rtcp'),
      rtcpOut: outgoing('rtcp'),
    };
  }

  /** Total. Undefined for what is not authentic, came before, or is of one source too many. */
  unprotect(packet: Buffer): ReceivedRtp | undefined {
    const cipher = this.#ciphers.rtpIn;
    const header = readRtpHeader(packet);
    if (!this.#open || !header || packet.length > MAX_PACKET_LENGTH) return undefined;
    if (header.length + cipher.tagLength > packet.length) return undefined;
    const known = this.#rtpIn.get(header.ssrc);
    const window = known ?? newWindow(this.#rtpIn);
    const index = window?.guess(header.sequenceNumber) ?? 0;
    if (!window?.isNew(index)) return undefined;
    work.set(packet);
    const length = cipher.openRtp(header.length, packet.length, index);
    if (length < 0) return undefined;
    if (!known) this.#rtpIn.set(header.ssrc, window);
    const newest = window.accept(index);
    work.copy(packet, header.length, header.length, length);
    const padding = header.padded && length > header.length ? packet[length - 1]! : 0;
    const { payloadType, sequenceNumber, timestamp, ssrc, marker } = header;
    return {
      payloadType,
      sequenceNumber,
      timestamp,
      ssrc,
      marker,
      payload: packet.subarray(header.length, Math.max(header.length, length - padding)),
      newest,
    };
  }

  /** Total. The compound RTCP packet, a view of the given one; undefined as with RTP. */
  unprotectRtcp(packet: Buffer): Buffer | undefined {
    const cipher = this.#ciphers.rtcpIn;
    const least = RTCP_CLEAR_LENGTH + cipher.tagLength + SRTCP_INDEX_LENGTH;
    if (!this.#open || packet.length < least || packet.length > MAX_PACKET_LENGTH) return undefined;
    const ssrc = packet.readUInt32BE(4);
    const flagged = packet.readUInt32BE(srtcpIndexAt(this.#profile, packet.length));
    const index = flagged - SRTCP_INDICES;
    // RTCP in clear is nothing that DTLS-SRTP agrees on.
    if (index < 0) return undefined;
    const window = this.#rtcpIn.get(ssrc) ?? newWindow(this.#rtcpIn);
    if (!window?.isNew(index)) return undefined;
    work.set(packet);
    const length = cipher.openRtcp(packet.length, index);
    if (length < 0) return undefined;
    this.#rtcpIn.set(ssrc, window);
    window.accept(index);
    work.copy(packet, RTCP_CLEAR_LENGTH, RTCP_CLEAR_LENGTH, length);
    return packet.subarray(0, length);
  }

  /**
   * One SRTP packet; undefined after close().
   *
   * @throws RangeError when the sequence number is not newer than the last one of its source, as no
   * index may be used twice under one key, or when the packet is too large.
   */
  protectRtp(fields: RtpFields, payload: Uint8Array): Buffer | undefined {
    if (!this.#open) return undefined;
    const plain = RTP_HEADER_LENGTH + payload.length;
    if (plain > MAX_PACKET_LENGTH) throw new RangeError('An RTP packet is too large to protect.');
    const index = this.#nextIndex(fields);
    writeRtpHeader(work, fields);
    work.set(payload, RTP_HEADER_LENGTH);
    return taken(this.#ciphers.rtpOut.sealRtp(RTP_HEADER_LENGTH, plain, index));
  }

  /**
   * One SRTCP packet; undefined after close().
   *
   * @param packets A compound RTCP packet.
   * @throws RangeError when it is too large.
   */
  protectRtcp(packets: Uint8Array): Buffer | undefined {
    if (!this.#open) return undefined;
    if (packets.length > MAX_PACKET_LENGTH) {
      throw new RangeError('An RTCP packet is too large to protect.');
    }
    work.set(packets);
    // 2^31 reports would take centuries.
    return taken(this.#ciphers.rtcpOut.sealRtcp(packets.length, this.#rtcpIndex++));
  }

  /** Frees the keys; nothing is protected or opened any more. */
  close(): void {
    if (!this.#open) return;
    this.#open = false;
    for (const cipher of Object.values(this.#ciphers)) cipher.free();
  }

  #nextIndex({ ssrc, sequenceNumber }: RtpFields): number {
    const last = this.#rtpOut.get(ssrc);
    const step = last === undefined ? 0 : (sequenceNumber - last) & 0xffff;
    if (last !== undefined && (step === 0 || step >= 0x8000)) {
      throw new RangeError('An RTP sequence number must be newer than the one before.');
    }
    const index = last === undefined ? sequenceNumber : last + step;
    this.#rtpOut.set(ssrc, index);
    return index;
  }
}

/** For a source that is new, which counts once it has proven itself; undefined for one too many. */
function newWindow(windows: Map<number, ReplayWindow>): ReplayWindow | undefined {
  return windows.size < MAX_SOURCES ? new ReplayWindow() : undefined;
}

/** A copy of the packet at work, as the next one overwrites it. */
function taken(length: number): Buffer {
  const packet = Buffer.allocUnsafe(length);
  work.copy(packet, 0, 0, length);
  return packet;
}
