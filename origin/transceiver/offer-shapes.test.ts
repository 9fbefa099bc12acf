/** What is taken of the offers of each browser and library, in one table. */
import { expect, test } from 'vitest';
import { parseOffer } from './offer.ts';
import { REAL_OFFERS } from './testing/offers.ts';

const AUDIO = { direction: 'sendrecv', rtcpMux: true } as const;

test.each<{
  of: keyof typeof REAL_OFFERS;
  codec: string;
  payloadType: number;
  sctpPort: number;
  maxMessageSize: number;
  role: string;
}>([
  {
    of: 'CHROME',
    codec: 'opus',
    payloadType: 111,
    sctpPort: 5000,
    maxMessageSize: 262_144,
    role: 'client',
  },
  {
    of: 'FIREFOX',
    codec: 'opus',
    payloadType: 109,
    sctpPort: 5000,
    maxMessageSize: 1_073_741_823,
    role: 'client',
  },
  {
    of: 'SAFARI',
    codec: 'opus',
    payloadType: 111,
    sctpPort: 5000,
    maxMessageSize: 262_144,
    role: 'client',
  },
  {
    of: 'SMALL',
    codec: 'pcmu',
    payloadType: 0,
    sctpPort: 5001,
    maxMessageSize: 65_536,
    role: 'server',
  },
  {
    of: 'AIORTC',
    codec: 'opus',
    payloadType: 96,
    sctpPort: 5000,
    maxMessageSize: 65_536,
    role: 'client',
  },
  {
    of: 'GSTREAMER',
    codec: 'opus',
    payloadType: 97,
    sctpPort: 5000,
    maxMessageSize: 65_536,
    role: 'client',
  },
  {
    of: 'LIBPEER',
    codec: 'pcmu',
    payloadType: 0,
    sctpPort: 5000,
    maxMessageSize: 262_144,
    role: 'client',
  },
])('$of', ({ of, codec, payloadType, sctpPort, maxMessageSize, role }) => {
  expect(parseOffer(REAL_OFFERS[of])).toMatchObject({
    bundle: true,
    role,
    audio: { codec, payloadType, ...AUDIO },
    data: { sctpPort, maxMessageSize },
  });
});

test('the table has every offer there is', () => {
  expect(Object.keys(REAL_OFFERS)).toHaveLength(7);
});
