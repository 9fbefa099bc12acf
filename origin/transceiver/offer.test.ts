import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { MAX_OFFER_BYTES } from '../../protocol/creation.ts';
import { OfferError, parseOffer } from './offer.ts';
import { mutatedOffers } from './testing/mutated-offers.ts';
import { CHROME, FIREFOX, SAFARI, SMALL } from './testing/offers.ts';

const problemOf = (offer: string) => {
  try {
    parseOffer(offer);
    return 'none';
  } catch (error) {
    if (error instanceof OfferError) return error.problem;
    throw error;
  }
};

test('Chrome: Opus, data channel, we start DTLS', () => {
  const offer = parseOffer(CHROME);
  expect(offer).toMatchObject({ bundle: true, role: 'client' });
  expect(offer.audio).toEqual({
    codec: 'opus',
    payloadType: 111,
    direction: 'sendrecv',
    rtcpMux: true,
  });
  expect(offer.data).toEqual({ sctpPort: 5000, maxMessageSize: 262_144 });
  expect(offer.media.map((it) => it.mid)).toEqual(['0', '1']);
  expect(offer.fingerprints).toHaveLength(1);
});

test('Firefox: transport at session level, data channel bundle-only with port 0', () => {
  const offer = parseOffer(FIREFOX);
  expect(offer.audio?.payloadType).toBe(109);
  expect(offer.data?.maxMessageSize).toBe(1_073_741_823);
});

test('Safari: video beside it is not taken', () => {
  const offer = parseOffer(SAFARI);
  expect(offer.media.map((it) => !!(it.audio ?? it.data))).toEqual([true, false, true]);
});

test('a small library: SAVP, words for mids, static PCMU, old form of data, active', () => {
  const offer = parseOffer(SMALL);
  expect(offer.audio).toMatchObject({ codec: 'pcmu', payloadType: 0 });
  expect(offer.data).toEqual({ sctpPort: 5001, maxMessageSize: 65_536 });
  expect(offer.role).toBe('server');
});

test('of two m-lines outside one BUNDLE group only the first is taken', () => {
  const offer = parseOffer(CHROME.replace('BUNDLE 0 1', 'BUNDLE 0'));
  expect(offer.audio).toBeDefined();
  expect(offer.data).toBeUndefined();
});

test('port 0 without bundle-only is no offer of that m-line', () => {
  expect(parseOffer(FIREFOX.replace('a=bundle-only\r\n', '')).data).toBeUndefined();
});

test.each([
  ['sendonly', 'recvonly'],
  ['recvonly', 'sendonly'],
  ['inactive', 'inactive'],
])('%s is answered with %s', (theirs, ours) => {
  expect(parseOffer(CHROME.replace('a=sendrecv', `a=${theirs}`)).audio?.direction).toBe(ours);
});

describe('offers that are refused', () => {
  test.each([
    ['nothing', '', 'malformed-offer'],
    ['no SDP', 'hello', 'malformed-offer'],
    ['no m-line', CHROME.slice(0, CHROME.indexOf('m=audio')), 'malformed-offer'],
    ['an m-line without formats', CHROME.replace(/(SAVPF) .*/, '$1'), 'malformed-offer'],
    ['a port beyond 65535', CHROME.replace('m=audio 9', 'm=audio 70000'), 'malformed-offer'],
    ['no ufrag', CHROME.replaceAll(/a=ice-ufrag.*\r\n/g, ''), 'malformed-offer'],
    ['a short password', CHROME.replaceAll(/a=ice-pwd.*/g, 'a=ice-pwd:short'), 'malformed-offer'],
    ['no fingerprint', CHROME.replaceAll(/a=fingerprint.*\r\n/g, ''), 'malformed-offer'],
    ['half a fingerprint', CHROME.replaceAll(/(a=fingerprint.{40}).*/g, '$1'), 'malformed-offer'],
    ['one mid twice', CHROME.replace('a=mid:1', 'a=mid:0'), 'malformed-offer'],
    ['a mid with a space', CHROME.replace('a=mid:1', 'a=mid:a b'), 'malformed-offer'],
    [
      'sha-1 alone',
      CHROME.replaceAll(/sha-256 .*/g, `sha-1 ${Array(20).fill('AA').join(':')}`),
      'unacceptable-offer',
    ],
    ['an ICE-lite peer', CHROME.replace('t=0 0', 't=0 0\r\na=ice-lite'), 'unacceptable-offer'],
    ['holdconn', CHROME.replaceAll('actpass', 'holdconn'), 'unacceptable-offer'],
    [
      'video alone',
      SAFARI.replace(/m=audio[^]*(?=m=video)/, '').replace(/m=application[^]*/, ''),
      'unacceptable-offer',
    ],
    [
      'SDES without DTLS',
      CHROME.replace('UDP/TLS/RTP/SAVPF', 'RTP/AVP').replace('UDP/DTLS/SCTP', 'TCP'),
      'unacceptable-offer',
    ],
    ['too much', CHROME + 'a=x\r\n'.repeat(MAX_OFFER_BYTES / 5), 'offer-too-large'],
  ])('%s', (_, offer, problem) => {
    expect(problemOf(offer)).toBe(problem);
  });
});

test('weak fingerprints beside a strong one are left aside', () => {
  const weak = `a=fingerprint:sha-1 ${Array(20).fill('AA').join(':')}\r\n`;
  const offer = parseOffer(CHROME.replaceAll('a=fingerprint', `${weak}a=fingerprint`));
  expect(offer.fingerprints.map((it) => it.hash)).toEqual(['sha-256']);
});

test('any text gives an offer or an OfferError', () => {
  const text = fc.oneof(
    mutatedOffers,
    fc.string({ unit: 'binary' }),
    fc.string().map((it) => `v=0\r\n${it}`),
  );
  fc.assert(
    fc.property(text, (offer) => {
      expect(problemOf(offer)).toMatch(/^(none|[a-z-]+)$/);
    }),
    { numRuns: 5_000 },
  );
});
