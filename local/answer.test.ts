import { expect, test } from 'vitest';
import { readCandidates, readRelayPath, readServerTiming } from './answer.ts';

test('Server-Timing', () => {
  expect(readServerTiming('steer;dur=0.2, roster;desc="a";dur=3,mint;dur=1, total')).toEqual({
    steer: 0.2,
    roster: 3,
    mint: 1,
  });
  expect(readServerTiming(null)).toEqual({});
});

test('Relay-Path', () => {
  const header = 'colo="FRA", cluster="us-east-1", ingress="eu-central-1", transceiver=1';
  expect(readRelayPath(header)).toEqual({
    colo: 'FRA',
    cluster: 'us-east-1',
    ingress: 'eu-central-1',
    transceiver: '1',
  });
  expect(readRelayPath(null)).toEqual({});
});

test('candidates', () => {
  const sdp = [
    'v=0',
    'a=candidate:1 1 udp 2130706431 127.0.0.1 3478 typ host',
    'a=candidate:2 1 TCP 2130706430 ::1 443 typ host tcptype passive',
    'a=end-of-candidates',
  ];
  expect(readCandidates(`${sdp.join('\r\n')}\r\n`)).toEqual(['127.0.0.1:3478/udp', '::1:443/tcp']);
  expect(readCandidates('v=0')).toEqual([]);
});
