/** SRTP both ways for one session (RFC 3711, RFC 7714): werift's ciphers, our packet index and replay window. */
import { createSecretKey } from 'node:crypto';
import { SrtcpSession, SrtpSession, type RtpHeader } from 'werift';
import type { SrtpKeys } from './dtls.ts';
import { ReplayWindow } from './replay.ts';
import { cipherKeys } from './werift-internals.ts';

/** Most sources a client may send from; a browser's audio has one. */
export const MAX_SOURCES = 8;

/** Bytes of header extensions taken; a browser's audio has about 30. */
export const MAX_EXTENSION_LENGTH = 256;

const RTP_HEADER_LENGTH = 12;
const EXTENSION_HEADER_LENGTH = 4;
const WORD = 4;
/** Bits of an RTP packet's first byte (RFC 3550 §5.1). */
const EXTENSION_BIT = 0x10;
const CSRC_COUNT = 0x0f;
const ROUND = 0x1_00_00;

export interface ReceivedRtp {
  readonly payloadType: number;
  readonly timestamp: number;
  readonly marker: boolean;
  /** Without header extensions and padding. */
  readonly payload: Uint8Array;
  /** True when no packet of its source was newer. */
  readonly newest: boolean;
}

/** True for RTCP among packets of RFC 7983's RTP range (RFC 5761 §4). */
export function isRtcp(packet: Uint8Array): boolean {
  return packet.length >= 2 && packet[1]! >= 192 && packet[1]! <= 223;
}

export class Srtp {
  readonly #rtp: SrtpSession;
  readonly #rtcp: SrtcpSession;
  readonly #windows = new Map<number, ReplayWindow>();

  constructor({ profile, localKey, localSalt, remoteKey, remoteSalt }: SrtpKeys) {
    const keys = {
      localMasterKey: localKey,
      localMasterSalt: localSalt,
      remoteMasterKey: remoteKey,
      remoteMasterSalt: remoteSalt,
    };
    this.#rtp = new SrtpSession({ keys, profile });
    this.#rtcp = new SrtcpSession({ keys, profile });
    useKeyObjects(this.#rtp);
    useKeyObjects(this.#rtcp);
  }

  /** Total. Undefined for what is not authentic, came before, or is of one source too many. */
  unprotect(packet: Buffer): ReceivedRtp | undefined {
    if (!hasSoundHeader(packet)) return undefined;
    const ssrc = packet.readUInt32BE(8);
    const known = this.#windows.get(ssrc);
    if (!known && this.#windows.size >= MAX_SOURCES) return undefined;
    const window = known ?? new ReplayWindow();
    const index = window.guess(packet.readUInt16BE(2));
    if (!window.isNew(index)) return undefined;
    const { cipher } = this.#rtp.remoteContext;
    let plain: Buffer;
    let header: RtpHeader;
    try {
      [plain, header] = cipher.decryptRtp(packet, Math.floor(index / ROUND));
    } catch {
      return undefined;
    }
    const newest = window.accept(index);
    if (!known) this.#windows.set(ssrc, window);
    return {
      payloadType: header.payloadType,
      timestamp: header.timestamp,
      marker: header.marker,
      payload: plain.subarray(header.payloadOffset, plain.length - header.paddingSize),
      newest,
    };
  }

  protectRtp(header: RtpHeader, payload: Buffer): Buffer {
    return this.#rtp.encrypt(payload, header);
  }

  /** @param packets A compound RTCP packet. */
  protectRtcp(packets: Buffer): Buffer {
    return this.#rtcp.encrypt(packets);
  }
}

/** Werift walks header extensions to the end they claim, be it far outside the packet, and before it has authenticated. */
function hasSoundHeader(packet: Buffer): boolean {
  if (packet.length < RTP_HEADER_LENGTH) return false;
  const extensionAt = RTP_HEADER_LENGTH + WORD * (packet[0]! & CSRC_COUNT);
  if ((packet[0]! & EXTENSION_BIT) === 0) return extensionAt <= packet.length;
  const elementsAt = extensionAt + EXTENSION_HEADER_LENGTH;
  if (elementsAt > packet.length) return false;
  const length = WORD * packet.readUInt16BE(extensionAt + 2);
  return length <= MAX_EXTENSION_LENGTH && elementsAt + length <= packet.length;
}

/** Node imports a raw key anew for each packet, a KeyObject once. */
function useKeyObjects(session: SrtpSession | SrtcpSession): void {
  const names = ['srtpSessionKey', 'srtcpSessionKey', 'srtpSessionAuthTag', 'srtcpSessionAuthTag'];
  for (const { cipher } of [session.localContext, session.remoteContext]) {
    const fields = cipherKeys(cipher);
    for (const name of names) {
      const key = fields[name];
      if (Buffer.isBuffer(key)) fields[name] = createSecretKey(key);
    }
  }
}
