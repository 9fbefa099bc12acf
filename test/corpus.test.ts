/** Each parser judges its corpus as is written there, and survives whatever is made of it. */
import { readdirSync } from 'node:fs';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { FrameReader } from '../origin/relay/rfc4571.ts';
import { MAX_CLIENT_PACKET } from '../origin/relay/packet-batch.ts';
import { noDtlsDrops, wantedRecords } from '../origin/transceiver/dtls-records.ts';
import { OfferError, parseOffer } from '../origin/transceiver/offer.ts';
import { readRtcp } from '../origin/transceiver/rtcp.ts';
import { readRtpHeader } from '../origin/transceiver/rtp-header.ts';
import { parseFragment } from '../origin/transceiver/sdp-fragment.ts';
import { SdpError } from '../origin/transceiver/sdp.ts';
import { isSoundStun } from '../origin/transceiver/stun-guard.ts';
import { REAL_OFFERS } from '../origin/transceiver/testing/offers.ts';
import { CallIdCodec } from '../protocol/call-id.ts';
import { parseRoutingKeys } from '../protocol/routing-keys.ts';
import { readStun } from '../protocol/stun.ts';
import { hasTrunkFrame, trunkFrameEnd } from '../protocol/trunk.ts';
import { UFRAG_EPOCH, UfragCodec } from '../protocol/ufrag.ts';
import { readMessage } from '../workers/signal/messages.ts';
import { readCorpus, type CorpusEntry } from './corpus/corpus.ts';

/** Changed inputs for each parser. */
const RUNS = 3_000;

/** The key of protocol/vectors. */
const keys = parseRoutingKeys('A:AAECAwQFBgcICQoLDA0ODw==');
const ufrags = new UfragCodec(keys);
const callIds = new CallIdCodec(keys);

/** Whether each takes the bytes; it throws for nothing. */
const PARSERS: Readonly<Record<string, (bytes: Buffer) => boolean>> = {
  stun: (bytes) => {
    if (!readStun(bytes)) return false;
    // Called for whole messages alone.
    isSoundStun(bytes);
    return true;
  },
  trunk: isTrunkDatagram,
  ufrag: (bytes) => ufrags.open(bytes, UFRAG_EPOCH).ok,
  'call-id': (bytes) => callIds.open(bytes.toString()) !== undefined,
  rtp: (bytes) => readRtpHeader(bytes) !== undefined,
  rtcp: (bytes) => readRtcp(bytes) !== undefined,
  dtls: (bytes) => {
    wantedRecords(bytes, 'server', true, noDtlsDrops());
    wantedRecords(bytes, 'client', false, noDtlsDrops());
    return wantedRecords(bytes, 'server', false, noDtlsDrops()).some(({ length }) => length > 0);
  },
  sdp: (bytes) => unless(OfferError, () => parseOffer(bytes.toString())),
  fragment: (bytes) => unless(SdpError, () => parseFragment(bytes.toString())),
  signal: (bytes) => readMessage(bytes.toString()) !== undefined,
  tcp: (bytes) => new FrameReader(MAX_CLIENT_PACKET).read(bytes, () => undefined),
};

test('every file of the corpus has its parser', () => {
  const files = readdirSync(new URL('corpus', import.meta.url)).filter((it) =>
    it.endsWith('.json'),
  );
  expect(files.map((it) => it.replace('.json', '')).toSorted()).toEqual(
    Object.keys(PARSERS).toSorted(),
  );
});

describe.each(Object.entries(PARSERS))('%s', (name, takes) => {
  const entries = [...readCorpus(name), ...(name === 'sdp' ? realOffers() : [])];

  test.each(entries.map((entry) => [entry.why, entry] as const))('%s', (_, { bytes, taken }) => {
    expect(takes(bytes)).toBe(taken);
  });

  test('anything made of them is taken or refused', () => {
    const verdicts = new Set<boolean>();
    fc.assert(
      fc.property(changed(entries.map(({ bytes }) => bytes)), (bytes) => {
        verdicts.add(takes(bytes));
      }),
      { numRuns: RUNS },
    );
    // Only what is sealed does not survive a change, and an entry that stays as it is comes up as well.
    expect(verdicts).toEqual(new Set([true, false]));
  });
});

function realOffers(): CorpusEntry[] {
  return Object.entries(REAL_OFFERS).map(([why, offer]) => ({
    why,
    taken: true,
    bytes: Buffer.from(offer),
  }));
}

/** One of them with some bytes changed, cut, doubled, or joined to another. */
function changed(inputs: readonly Buffer[]): fc.Arbitrary<Buffer> {
  const input = fc.constantFrom(...inputs);
  const bytes = fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 4 });
  const cut = fc.tuple(fc.nat(), fc.nat());
  return fc.oneof(
    input,
    fc.tuple(input, bytes).map(([one, changes]) => {
      const copy = Buffer.from(one);
      for (const [at, value] of changes) if (copy.length > 0) copy[at % copy.length] = value;
      return copy;
    }),
    fc.tuple(input, cut).map(([one, [from, to]]) => {
      const length = one.length + 1;
      return one.subarray(from % length, to % length);
    }),
    fc.tuple(input, input, fc.nat()).map(([one, other, at]) => {
      const place = at % (one.length + 1);
      return Buffer.concat([one.subarray(0, place), other, one.subarray(place)]);
    }),
  );
}

function isTrunkDatagram(bytes: Buffer): boolean {
  let at = 0;
  do {
    at = trunkFrameEnd(bytes, at, bytes.length);
    if (at < 0) return false;
  } while (hasTrunkFrame(bytes, at, bytes.length));
  return true;
}

/** False for an error of that kind; others are thrown on. */
function unless(kind: new (...args: never[]) => Error, parse: () => unknown): boolean {
  try {
    parse();
    return true;
  } catch (error) {
    if (error instanceof kind) return false;
    throw error;
  }
}
