import { expect, test } from 'vitest';
import { writeAnswer } from './answer.ts';
import { parseOffer } from './offer.ts';
import { attribute, parseSdp } from './sdp.ts';
import { CHROME, REAL_OFFERS, SAFARI, SMALL } from './testing/offers.ts';

const PARAMETERS = {
  ufrag: 'u'.repeat(23),
  password: 'p'.repeat(24),
  fingerprint: 'AA:BB',
  relays: [
    { address: '192.0.2.1', port: 3478, transport: 'udp' },
    { address: '2001:db8::1', port: 3478, transport: 'udp' },
    { address: '192.0.2.1', port: 443, transport: 'tcp' },
  ],
  ssrc: 42,
  cname: 'name',
} as const;

/** What an answer must keep of its offer. */
const shape = (text: string) =>
  parseSdp(text).media.map((it) => [it.kind, it.protocol, attribute(it, 'mid')]);

const answerTo = (offer: string) => writeAnswer(parseOffer(offer), PARAMETERS);

test('Chrome', () => {
  expect(
    answerTo(CHROME)
      .replace(/o=- \d+/, 'o=- 1')
      .split('\r\n'),
  ).toEqual([
    'v=0',
    'o=- 1 1 IN IP4 0.0.0.0',
    's=-',
    't=0 0',
    'a=group:BUNDLE 0 1',
    'a=ice-lite',
    'a=msid-semantic: WMS *',
    'm=audio 3478 UDP/TLS/RTP/SAVPF 111',
    'c=IN IP4 192.0.2.1',
    'a=mid:0',
    `a=ice-ufrag:${PARAMETERS.ufrag}`,
    `a=ice-pwd:${PARAMETERS.password}`,
    'a=fingerprint:sha-256 AA:BB',
    'a=setup:active',
    'a=sendrecv',
    'a=rtcp-mux',
    'a=rtpmap:111 opus/48000/2',
    'a=fmtp:111 minptime=10;useinbandfec=1',
    'a=msid:name audio',
    'a=ssrc:42 cname:name',
    'a=candidate:1 1 udp 2130706431 192.0.2.1 3478 typ host',
    'a=candidate:2 1 udp 2130706175 2001:db8::1 3478 typ host',
    'a=candidate:3 1 tcp 1520434687 192.0.2.1 443 typ host tcptype passive',
    'a=end-of-candidates',
    'm=application 3478 UDP/DTLS/SCTP webrtc-datachannel',
    'c=IN IP4 192.0.2.1',
    'a=mid:1',
    `a=ice-ufrag:${PARAMETERS.ufrag}`,
    `a=ice-pwd:${PARAMETERS.password}`,
    'a=fingerprint:sha-256 AA:BB',
    'a=setup:active',
    'a=sctp-port:5000',
    'a=max-message-size:262144',
    '',
  ]);
});

test.each(Object.entries(REAL_OFFERS))(
  '%s: mids, kinds and protocols are those of the offer',
  (_, offer) => {
    expect(shape(answerTo(offer))).toEqual(shape(offer));
  },
);

test('what is not taken is rejected in its place', () => {
  const video = parseSdp(answerTo(SAFARI)).media[1]!;
  expect(video).toMatchObject({ kind: 'video', port: 0, formats: ['96'] });
  expect(answerTo(SAFARI)).toContain('a=group:BUNDLE 0 1\r\n');
});

test('the old form of a data channel is answered in it', () => {
  const answer = answerTo(SMALL);
  expect(answer).toContain('m=application 3478 DTLS/SCTP 5001\r\n');
  expect(answer).toContain('a=sctpmap:5001 webrtc-datachannel 65535\r\n');
  expect(answer).toContain('a=setup:passive\r\n');
});
