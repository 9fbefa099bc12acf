/** The answer to an offer, written line by line (RFC 8829 §5.3). */
import { randomBytes } from 'node:crypto';
import { isIPv6 } from 'node:net';
import type { RelayAddress } from '../../protocol/signature.ts';
import { candidateLines } from './candidate.ts';
import type { Offer, OfferedAudio, OfferedData, OfferedMedia } from './offer.ts';

/** Bytes of the largest data-channel message we take. */
export const MAX_MESSAGE_SIZE = 262_144;

export interface AnswerParameters {
  readonly ufrag: string;
  readonly password: string;
  /** SHA-256 of our certificate. */
  readonly fingerprint: string;
  /** The candidates, all of them; the first is the default one. */
  readonly relays: readonly RelayAddress[];
  /** SSRC of the audio we send. */
  readonly ssrc: number;
  /** Our RTCP name (RFC 7022). */
  readonly cname: string;
}

export function writeAnswer(offer: Offer, parameters: AnswerParameters): string {
  const kept = offer.media.filter((it) => it.audio ?? it.data);
  const mids = kept.flatMap((it) => it.mid ?? []);
  return [
    'v=0',
    `o=- ${randomBytes(8).readBigUInt64BE() >> 2n} 1 IN IP4 0.0.0.0`,
    's=-',
    't=0 0',
    ...(offer.bundle ? [`a=group:BUNDLE ${mids.join(' ')}`] : []),
    'a=ice-lite',
    'a=msid-semantic: WMS *',
    ...offer.media.flatMap((it) => mediaLines(it, it === kept[0], offer, parameters)),
    '',
  ].join('\r\n');
}

function mediaLines(media: OfferedMedia, isFirst: boolean, offer: Offer, to: AnswerParameters) {
  const { kind, protocol, mid, audio, data } = media;
  const named = mid === undefined ? [] : [`a=mid:${mid}`];
  if (!audio && !data) {
    const formats = media.formats.join(' ');
    return [`m=${kind} 0 ${protocol} ${formats}`, 'c=IN IP4 0.0.0.0', ...named, 'a=inactive'];
  }
  const { address, port } = to.relays[0]!;
  const format = audio ? audio.payloadType : media.formats[0]!;
  return [
    `m=${kind} ${port} ${protocol} ${format}`,
    `c=IN ${isIPv6(address) ? 'IP6' : 'IP4'} ${address}`,
    ...named,
    `a=ice-ufrag:${to.ufrag}`,
    `a=ice-pwd:${to.password}`,
    `a=fingerprint:sha-256 ${to.fingerprint}`,
    `a=setup:${offer.role === 'client' ? 'active' : 'passive'}`,
    ...(audio ? audioLines(audio, to) : []),
    ...(data ? dataLines(data, media) : []),
    // In a bundle the transport is that of its first m-line (RFC 9143 §7.3.2).
    ...(isFirst ? [...candidateLines(to.relays), 'a=end-of-candidates'] : []),
  ];
}

function audioLines(
  { codec, payloadType, direction, rtcpMux }: OfferedAudio,
  to: AnswerParameters,
) {
  const codecLines =
    codec === 'opus'
      ? [`a=rtpmap:${payloadType} opus/48000/2`, `a=fmtp:${payloadType} minptime=10;useinbandfec=1`]
      : [`a=rtpmap:${payloadType} ${codec.toUpperCase()}/8000`];
  const sends = direction === 'sendrecv' || direction === 'sendonly';
  return [
    `a=${direction}`,
    ...(rtcpMux ? ['a=rtcp-mux'] : []),
    ...codecLines,
    ...(sends ? [`a=msid:${to.cname} audio`, `a=ssrc:${to.ssrc} cname:${to.cname}`] : []),
  ];
}

function dataLines({ sctpPort }: OfferedData, { formats }: OfferedMedia): string[] {
  // The form before RFC 8841 has the port as its format and repeats it in a=sctpmap.
  const isOldForm = formats[0] !== 'webrtc-datachannel';
  return [
    isOldForm ? `a=sctpmap:${sctpPort} webrtc-datachannel 65535` : `a=sctp-port:${sctpPort}`,
    `a=max-message-size:${MAX_MESSAGE_SIZE}`,
  ];
}
