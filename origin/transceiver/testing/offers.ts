/** Offers as browsers and libraries write them, cut down to the lines that matter and some that do not. */

const CHROME_TRANSPORT = [
  'a=ice-ufrag:pXbv',
  'a=ice-pwd:8JfVQkJ4Pj0Zn3v6y6cM3QhL',
  'a=ice-options:trickle goog-sped-v1',
  'a=fingerprint:sha-256 4A:AD:B9:B1:3F:82:18:3B:54:02:12:DF:3E:5D:49:6B:19:E5:7C:AB:3B:4F:2D:1E:6A:90:5C:77:10:EE:42:08',
  'a=setup:actpass',
];

const lines = (...all: string[]) => all.join('\r\n') + '\r\n';

export const CHROME = lines(
  'v=0',
  'o=- 7614219274584779017 2 IN IP4 127.0.0.1',
  's=-',
  't=0 0',
  'a=group:BUNDLE 0 1',
  'a=extmap-allow-mixed',
  'a=msid-semantic: WMS 5b7c',
  'm=audio 9 UDP/TLS/RTP/SAVPF 111 63 9 0 8 13 110 126',
  'c=IN IP4 0.0.0.0',
  'a=rtcp:9 IN IP4 0.0.0.0',
  'a=candidate:2999745851 1 udp 2113937151 8c1f0a5e-ab12.local 51472 typ host generation 0 network-cost 999',
  ...CHROME_TRANSPORT,
  'a=mid:0',
  'a=extmap:1 urn:ietf:params:rtp-hdrext:ssrc-audio-level',
  'a=sendrecv',
  'a=msid:5b7c 9d1e',
  'a=rtcp-mux',
  'a=rtcp-rsize',
  'a=rtpmap:111 opus/48000/2',
  'a=rtcp-fb:111 transport-cc',
  'a=fmtp:111 minptime=10;useinbandfec=1',
  'a=rtpmap:63 red/48000/2',
  'a=rtpmap:9 G722/8000',
  'a=rtpmap:0 PCMU/8000',
  'a=rtpmap:8 PCMA/8000',
  'a=rtpmap:13 CN/8000',
  'a=rtpmap:110 telephone-event/48000',
  'a=rtpmap:126 telephone-event/8000',
  'a=ssrc:3735928559 cname:Zx1',
  'm=application 9 UDP/DTLS/SCTP webrtc-datachannel',
  'c=IN IP4 0.0.0.0',
  ...CHROME_TRANSPORT,
  'a=mid:1',
  'a=sctp-port:5000',
  'a=max-message-size:262144',
);

export const FIREFOX = lines(
  'v=0',
  'o=mozilla...THIS_IS_SDPARTA-99.0 3052171493219846071 0 IN IP4 0.0.0.0',
  's=-',
  't=0 0',
  'a=sendrecv',
  'a=fingerprint:sha-256 12:AD:B9:B1:3F:82:18:3B:54:02:12:DF:3E:5D:49:6B:19:E5:7C:AB:3B:4F:2D:1E:6A:90:5C:77:10:EE:42:08',
  'a=group:BUNDLE 0 1',
  'a=ice-options:trickle',
  'a=msid-semantic:WMS *',
  'm=audio 9 UDP/TLS/RTP/SAVPF 109 9 0 8 101',
  'c=IN IP4 0.0.0.0',
  'a=sendrecv',
  'a=fmtp:109 maxplaybackrate=48000;stereo=1;useinbandfec=1',
  'a=ice-pwd:0d2a7b0d5b5a9c7a3f7a2f1c4f7f6a55',
  'a=ice-ufrag:6d1f1c7e',
  'a=mid:0',
  'a=msid:{a} {b}',
  'a=rtcp-mux',
  'a=rtpmap:109 opus/48000/2',
  'a=rtpmap:9 G722/8000/1',
  'a=rtpmap:0 PCMU/8000',
  'a=rtpmap:8 PCMA/8000',
  'a=rtpmap:101 telephone-event/8000',
  'a=setup:actpass',
  'm=application 0 UDP/DTLS/SCTP webrtc-datachannel',
  'c=IN IP4 0.0.0.0',
  'a=bundle-only',
  'a=sendrecv',
  'a=mid:1',
  'a=setup:actpass',
  'a=sctp-port:5000',
  'a=max-message-size:1073741823',
);

export const SAFARI = CHROME.replace('7614219274584779017', '-4611686018427387904')
  .replaceAll('goog-sped-v1', 'renomination')
  .replace('a=extmap-allow-mixed\r\n', '')
  .replace(
    'm=application',
    'm=video 9 UDP/TLS/RTP/SAVPF 96\r\nc=IN IP4 0.0.0.0\r\na=mid:2\r\na=rtpmap:96 VP8/90000\r\nm=application',
  )
  .replace('BUNDLE 0 1', 'BUNDLE 0 2 1');

/** A small library's: session-level transport, SAVP without F, mids that are words, no rtpmap for PCMU. */
export const SMALL = lines(
  'v=0',
  'o=- -1 1 IN IP4 10.0.0.7',
  's=-',
  't=0 0',
  'a=group:BUNDLE voice events',
  'a=ice-ufrag:abcd',
  'a=ice-pwd:0123456789012345678901',
  'a=fingerprint:SHA-256 4a:ad:b9:b1:3f:82:18:3b:54:02:12:df:3e:5d:49:6b:19:e5:7c:ab:3b:4f:2d:1e:6a:90:5c:77:10:ee:42:08',
  'a=setup:active',
  'm=audio 4000 UDP/TLS/RTP/SAVP 0',
  'c=IN IP4 10.0.0.7',
  'a=mid:voice',
  'a=rtcp-mux',
  'm=application 4000 DTLS/SCTP 5001',
  'c=IN IP4 10.0.0.7',
  'a=mid:events',
  'a=sctpmap:5001 webrtc-datachannel 1024',
);

export const REAL_OFFERS = { CHROME, FIREFOX, SAFARI, SMALL };
