import { expect, test } from 'vitest';
import { candidateLines } from './candidate.ts';

test('UDP comes before TCP, and among equals the first one', () => {
  const lines = candidateLines([
    { address: '192.0.2.1', port: 3478, transport: 'udp' },
    { address: '192.0.2.1', port: 443, transport: 'tcp' },
    { address: '2001:db8::1', port: 3478, transport: 'udp' },
    { address: '2001:db8::1', port: 443, transport: 'tcp' },
  ]);

  // RFC 8445 §5.1.2.1, RFC 6544 §4.2: 4 is the preference of a passive host candidate.
  const udp = 2 ** 24 * 126 + 2 ** 8 * 65_535 + 255;
  const tcp = 2 ** 24 * 90 + 2 ** 8 * (2 ** 13 * 4 + 8191) + 255;
  expect(lines).toEqual([
    `a=candidate:1 1 udp ${udp} 192.0.2.1 3478 typ host`,
    `a=candidate:2 1 tcp ${tcp - 256} 192.0.2.1 443 typ host tcptype passive`,
    `a=candidate:3 1 udp ${udp - 512} 2001:db8::1 3478 typ host`,
    `a=candidate:4 1 tcp ${tcp - 768} 2001:db8::1 443 typ host tcptype passive`,
  ]);
});
