/** SDP offers as text, and how they reach the edge. */

/** What browsers send for audio and a data channel, without what no answer depends on. */
export const OFFER = sdp`
v=0
o=- 4611731400430051336 2 IN IP4 127.0.0.1
s=-
t=0 0
a=group:BUNDLE 0 1
a=msid-semantic: WMS
m=audio 9 UDP/TLS/RTP/SAVPF 111 0
c=IN IP4 0.0.0.0
a=rtcp:9 IN IP4 0.0.0.0
a=ice-ufrag:clnt
a=ice-pwd:abcdefghijklmnopqrstuvwx
a=ice-options:trickle
a=fingerprint:sha-256 ${Array.from({ length: 32 }, () => 'AB').join(':')}
a=setup:actpass
a=mid:0
a=sendrecv
a=rtcp-mux
a=rtpmap:111 opus/48000/2
a=fmtp:111 minptime=10;useinbandfec=1
a=rtpmap:0 PCMU/8000
m=application 9 UDP/DTLS/SCTP webrtc-datachannel
c=IN IP4 0.0.0.0
a=ice-ufrag:clnt
a=ice-pwd:abcdefghijklmnopqrstuvwx
a=ice-options:trickle
a=fingerprint:sha-256 ${Array.from({ length: 32 }, () => 'AB').join(':')}
a=setup:actpass
a=mid:1
a=sctp-port:5000
a=max-message-size:262144
`;

/** The ice-ufrag in {@link OFFER}. */
export const CLIENT_UFRAG = 'clnt';

/** @param edge Base URL. */
export function postOffer(
  edge: string,
  offer: string,
  headers: Record<string, string> = {},
): Promise<Response> {
  return fetch(`${edge}/v1/calls`, {
    method: 'POST',
    headers: { 'content-type': 'application/sdp', ...headers },
    body: offer,
  });
}

/** The value of the first `a=NAME:` line. @throws Error when there is none. */
export function sdpAttribute(description: string, name: string): string {
  const value = new RegExp(`^a=${name}:(.+?)\r?$`, 'm').exec(description)?.[1];
  if (value === undefined) throw new Error(`There is no a=${name} in:\n${description}`);
  return value;
}

/** Text with the line ends of SDP (RFC 8866 §5). */
function sdp(strings: TemplateStringsArray, ...values: string[]): string {
  return String.raw({ raw: strings }, ...values)
    .trim()
    .concat('\n')
    .replaceAll('\n', '\r\n');
}
