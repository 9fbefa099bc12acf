import { expect, test } from 'vitest';
import { fragmentOf, onlyTransport, withFragment } from './ice-restart.js';

const sdp = (ufrag: string, candidates: readonly string[]) =>
  [
    'v=0',
    'm=audio 9 UDP/TLS/RTP/SAVPF 111',
    'a=mid:0',
    `a=ice-ufrag:${ufrag}`,
    `a=ice-pwd:password of ${ufrag}`,
    ...candidates.map((it) => `a=candidate:${it}`),
    'a=end-of-candidates',
    'm=application 9 UDP/DTLS/SCTP webrtc-datachannel',
    'a=mid:1',
    `a=ice-ufrag:${ufrag}`,
    `a=ice-pwd:password of ${ufrag}`,
    '',
  ].join('\r\n');

test('a fragment has the credentials and the first m-line of an offer', () => {
  expect(fragmentOf(sdp('one', ['1']))).toBe(
    'a=ice-ufrag:one\r\na=ice-pwd:password of one\r\nm=audio 9 UDP/TLS/RTP/SAVPF 111\r\na=mid:0\r\n',
  );
});

test('an answer takes over the ICE of a fragment, and keeps the rest', () => {
  const fragment =
    'a=ice-ufrag:new\r\na=ice-pwd:password of new\r\na=candidate:3\r\na=candidate:4\r\n';
  expect(withFragment(sdp('old', ['1', '2']), fragment)).toBe(sdp('new', ['3', '4']));
});

test('one transport is what an answer can be left with', () => {
  const all = sdp('one', [
    '1 1 udp 7 127.0.0.1 3478 typ host',
    '2 1 TCP 5 127.0.0.1 3478 typ host',
  ]);
  expect(onlyTransport(all, 'tcp')).toBe(sdp('one', ['2 1 TCP 5 127.0.0.1 3478 typ host']));
  expect(onlyTransport(all, 'udp')).toBe(sdp('one', ['1 1 udp 7 127.0.0.1 3478 typ host']));
});
