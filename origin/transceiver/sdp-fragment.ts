/** Fragments of SDP that carry ICE alone (RFC 8840 §9), as WHIP sends them both ways (RFC 9725 §4.3). */
import type { RelayAddress } from '../../protocol/signature.ts';
import { candidateLines } from './candidate.ts';
import { credentialsOf, type IceCredentials } from './ice-credentials.ts';
import type { OfferedMedia } from './offer.ts';
import { parseSdp } from './sdp.ts';

/**
 * The credentials a fragment is about. A lite agent has no use for its candidates.
 *
 * @throws SdpError
 */
export function parseFragment(text: string): IceCredentials {
  const { attributes, media } = parseSdp(text, { isFragment: true });
  return credentialsOf({ attributes }, ...media);
}

/** What a client needs to check by the new generation. @param media The m-line that carries the transport. */
export function writeFragment(
  { ufrag, password }: IceCredentials,
  { kind, protocol, formats, mid }: OfferedMedia,
  relays: readonly RelayAddress[],
): string {
  return [
    'a=ice-lite',
    ...(mid === undefined ? [] : [`a=group:BUNDLE ${mid}`]),
    `a=ice-ufrag:${ufrag}`,
    `a=ice-pwd:${password}`,
    `m=${kind} 9 ${protocol} ${formats[0]}`,
    ...(mid === undefined ? [] : [`a=mid:${mid}`]),
    ...candidateLines(relays),
    'a=end-of-candidates',
    '',
  ].join('\r\n');
}
