/** What a transceiver needs of a client's offer (RFC 8829, RFC 9429), read and judged. */
import type { AudioCodec } from '../backend/backend.ts';
import { MAX_OFFER_BYTES } from '../../protocol/creation.ts';
import type { ProblemName } from '../../protocol/problem.ts';
import { fingerprintLength, isFingerprintHash, type Fingerprint } from './fingerprint.ts';
import { credentialsOf, type IceCredentials } from './ice-credentials.ts';
import { SdpError, attribute, attributes, hasAttribute, parseSdp } from './sdp.ts';
import type { Sdp, SdpMedia } from './sdp.ts';

/** Bytes of a data-channel message a peer takes that does not say so (RFC 8841 §6.1). */
const DEFAULT_MAX_MESSAGE = 65_536;
const DEFAULT_SCTP_PORT = 5000;

/** Static payload types (RFC 3551 §6), which need no rtpmap. */
const STATIC_RTPMAPS: Readonly<Record<string, string>> = { '0': 'PCMU/8000', '8': 'PCMA/8000' };

const AUDIO_PROTOCOLS = /^(?:UDP|TCP)\/TLS\/RTP\/SAVPF?$|^RTP\/SAVPF?$/;
const DATA_PROTOCOLS = /^(?:(?:UDP|TCP)\/)?DTLS\/SCTP$/;
/** RFC 8866 token; also what keeps a mid from breaking our own lines. */
const MID = /^[!#-'*+\-.0-9A-Z^-~]{1,64}$/;

/** An offer we do not take, with the problem it is and what to do about it. */
export class OfferError extends Error {
  override readonly name = 'OfferError';
  readonly problem: Extract<
    ProblemName,
    'malformed-offer' | 'unacceptable-offer' | 'offer-too-large'
  >;

  constructor(problem: OfferError['problem'], detail: string) {
    super(detail);
    this.problem = problem;
  }
}

export interface OfferedAudio {
  readonly codec: AudioCodec;
  /** 0 to 127. */
  readonly payloadType: number;
  /** Our side of it. */
  readonly direction: 'sendrecv' | 'sendonly' | 'recvonly' | 'inactive';
  readonly rtcpMux: boolean;
}

export interface OfferedData {
  readonly sctpPort: number;
  /** Bytes of the largest message the client takes; 0 for any. */
  readonly maxMessageSize: number;
}

/** One m-line: taken as `audio` or `data`, or rejected when neither. */
export interface OfferedMedia {
  readonly kind: string;
  readonly protocol: string;
  readonly formats: readonly string[];
  readonly mid: string | undefined;
  readonly audio?: OfferedAudio;
  readonly data?: OfferedData;
}

export interface Offer {
  readonly media: readonly OfferedMedia[];
  /** True when the answer groups what it takes. */
  readonly bundle: boolean;
  readonly audio: OfferedAudio | undefined;
  readonly data: OfferedData | undefined;
  readonly ice: IceCredentials;
  readonly fingerprints: readonly Fingerprint[];
  /** Our DTLS role. */
  readonly role: 'client' | 'server';
}

/** @throws OfferError for any text that is not an offer we can answer; nothing else. */
export function parseOffer(text: string): Offer {
  if (Buffer.byteLength(text) > MAX_OFFER_BYTES) {
    throw new OfferError('offer-too-large', `An offer has at most ${MAX_OFFER_BYTES} bytes.`);
  }
  const sdp = read(text);
  if (sdp.media.length === 0) throw malformed('it has no m-line');
  const mids = sdp.media.map(midOf);
  const named = mids.filter((mid) => mid !== undefined);
  if (new Set(named).size < named.length) throw malformed('two m-lines have the same a=mid');

  const bundle = bundleOf(sdp);
  const audioAt = sdp.media.findIndex((it) => it.kind === 'audio' && audioOf(it) !== undefined);
  const dataAt = sdp.media.findIndex((it) => it.kind === 'application' && dataOf(it) !== undefined);
  const taken = [audioAt, dataAt].filter((at) => at >= 0).toSorted((a, b) => a - b);
  const first = taken[0];
  if (first === undefined) {
    throw unacceptable('Offer audio in Opus, PCMU or PCMA, or a data channel, over DTLS.');
  }
  // All goes over one transport, so of two m-lines outside one BUNDLE group only the first is taken.
  const bundled = taken.length > 1 && taken.every((at) => bundle.includes(mids[at] ?? ''));
  const kept = bundled ? taken : [first];
  const audio = kept.includes(audioAt) ? audioOf(sdp.media[audioAt]!) : undefined;
  const data = kept.includes(dataAt) ? dataOf(sdp.media[dataAt]!) : undefined;

  const media = sdp.media.map(({ kind, protocol, formats }, at) => ({
    kind,
    protocol,
    formats,
    mid: mids[at],
    ...(audio && at === audioAt ? { audio } : {}),
    ...(data && at === dataAt ? { data } : {}),
  }));
  const transport = sdp.media[first]!;
  return {
    media,
    bundle: bundle.includes(mids[first] ?? ''),
    audio,
    data,
    ice: iceOf(sdp, transport),
    fingerprints: fingerprintsOf(sdp, transport),
    role: roleOf(sdp, transport),
  };
}

function read(text: string): Sdp {
  try {
    return parseSdp(text);
  } catch (error) {
    if (error instanceof SdpError) throw malformed(error.message);
    throw error;
  }
}

function malformed(what: string): OfferError {
  return new OfferError('malformed-offer', `The offer is not SDP as browsers write it: ${what}.`);
}

function unacceptable(what: string): OfferError {
  return new OfferError('unacceptable-offer', what);
}

function midOf(media: SdpMedia): string | undefined {
  const mid = attribute(media, 'mid');
  if (mid !== undefined && !MID.test(mid)) throw malformed('an a=mid is not a token');
  return mid;
}

function bundleOf(sdp: Sdp): string[] {
  const groups = attributes(sdp, 'group').map((value) => value.split(' '));
  return groups.find(([semantics]) => semantics === 'BUNDLE')?.slice(1) ?? [];
}

/** Port 0 rejects an m-line, unless bundle-only says that it has no port of its own (RFC 9143 §6). */
function isOffered(media: SdpMedia): boolean {
  return media.port !== 0 || hasAttribute(media, 'bundle-only');
}

function audioOf(media: SdpMedia): OfferedAudio | undefined {
  if (!isOffered(media) || !AUDIO_PROTOCOLS.test(media.protocol)) return undefined;
  const names = new Map<string, string>();
  for (const value of attributes(media, 'rtpmap')) {
    const [format, name] = value.split(' ', 2);
    if (format !== undefined && name !== undefined) names.set(format, name);
  }
  for (const format of media.formats) {
    const codec = codecOf(names.get(format) ?? STATIC_RTPMAPS[format] ?? '');
    if (!codec || !/^\d{1,3}$/.test(format) || Number(format) > 127) continue;
    return {
      codec,
      payloadType: Number(format),
      direction: directionOf(media),
      rtcpMux: hasAttribute(media, 'rtcp-mux'),
    };
  }
  return undefined;
}

function codecOf(rtpmap: string): AudioCodec | undefined {
  if (/^opus\/48000\/2$/i.test(rtpmap)) return 'opus';
  const [, law] = /^PCM([UA])\/8000(?:\/1)?$/i.exec(rtpmap) ?? [];
  if (law === undefined) return undefined;
  return law.toUpperCase() === 'U' ? 'pcmu' : 'pcma';
}

function directionOf(media: SdpMedia): OfferedAudio['direction'] {
  if (hasAttribute(media, 'sendonly')) return 'recvonly';
  if (hasAttribute(media, 'recvonly')) return 'sendonly';
  return hasAttribute(media, 'inactive') ? 'inactive' : 'sendrecv';
}

function dataOf(media: SdpMedia): OfferedData | undefined {
  if (!isOffered(media) || !DATA_PROTOCOLS.test(media.protocol)) return undefined;
  const isOldForm = /^\d{1,5}$/.test(media.formats[0]!);
  if (!isOldForm && media.formats[0] !== 'webrtc-datachannel') return undefined;
  const sctpPort = numberOf(
    (isOldForm ? media.formats[0] : attribute(media, 'sctp-port')) ?? `${DEFAULT_SCTP_PORT}`,
  );
  const maxMessageSize = numberOf(attribute(media, 'max-message-size') ?? `${DEFAULT_MAX_MESSAGE}`);
  if (sctpPort === undefined || sctpPort < 1 || sctpPort > 65535) return undefined;
  return maxMessageSize === undefined ? undefined : { sctpPort, maxMessageSize };
}

function numberOf(text: string): number | undefined {
  return /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

function iceOf(sdp: Sdp, media: SdpMedia): IceCredentials {
  if (hasAttribute(sdp, 'ice-lite')) {
    throw unacceptable('The offer is from an ICE-lite agent, and so are we; offer full ICE.');
  }
  try {
    return credentialsOf(media, sdp);
  } catch (error) {
    throw error instanceof SdpError ? malformed(error.message) : error;
  }
}

function fingerprintsOf(sdp: Sdp, media: SdpMedia): Fingerprint[] {
  const own = attributes(media, 'fingerprint');
  const values = own.length > 0 ? own : attributes(sdp, 'fingerprint');
  if (values.length === 0) throw malformed('a=fingerprint is missing');
  const strong = values.map(parseFingerprint).filter((it) => it !== undefined);
  if (strong.length === 0) {
    throw unacceptable('Offer a certificate fingerprint by sha-256, sha-384 or sha-512.');
  }
  return strong;
}

function parseFingerprint(value: string): Fingerprint | undefined {
  const [, name, hex] = /^([!-~]+) ((?:[0-9A-Fa-f]{2}:)*[0-9A-Fa-f]{2})$/.exec(value) ?? [];
  if (!name || !hex) throw malformed('a=fingerprint is not a hash name and bytes in hexadecimal');
  const hash = name.toLowerCase();
  if (!isFingerprintHash(hash)) return undefined;
  const digest = Buffer.from(hex.replaceAll(':', ''), 'hex');
  if (digest.length !== fingerprintLength(hash)) {
    throw malformed(`a=fingerprint has ${digest.length} bytes, ${hash} has another number`);
  }
  return { hash, digest };
}

/** Being the DTLS client saves half a round trip, so it is ours when the offer leaves the choice. */
function roleOf(sdp: Sdp, media: SdpMedia): Offer['role'] {
  const setup = attribute(media, 'setup') ?? attribute(sdp, 'setup') ?? 'actpass';
  if (setup === 'actpass' || setup === 'passive') return 'client';
  if (setup === 'active') return 'server';
  throw unacceptable('Offer a=setup:actpass, active or passive.');
}
