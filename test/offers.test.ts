/** What the edge and a transceiver together make of offers, good, odd and bad. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startStack, type Stack } from '../local/stack.ts';
import { OFFER, postOffer } from './support/offers.ts';
import { sessionsOf } from './support/sessions.ts';

let stack: Stack;

beforeAll(async () => {
  stack = await startStack();
});

afterAll(() => stack?.close());

const replaced = (from: string | RegExp, to: string) => OFFER.replaceAll(from, to);

const FINGERPRINT = /a=fingerprint:.*\r\n/g;

describe('an offer that cannot be answered gets problem details', () => {
  test.each<[string, string]>([
    ['nothing', ''],
    ['a line of prose', 'Hello, I would like to call.\r\n'],
    ['JSON', JSON.stringify({ type: 'offer', sdp: OFFER })],
    ['half an offer', OFFER.slice(0, 90)],
    ['bytes of no text', '\0\u0001\u0002v=0'],
    ['no ice-ufrag', replaced(/a=ice-ufrag:.*\r\n/g, '')],
    ['no ice-pwd', replaced(/a=ice-pwd:.*\r\n/g, '')],
    ['no fingerprint', replaced(FINGERPRINT, '')],
    ['a fingerprint of the wrong size', replaced(FINGERPRINT, 'a=fingerprint:sha-256 AB:CD\r\n')],
    ['no media', OFFER.slice(0, OFFER.indexOf('m=audio'))],
    ['a port that is no number', replaced('m=audio 9', 'm=audio nine')],
  ])('%s', async (_, offer) => {
    const before = await sessionsOf(stack);
    const response = await postOffer(stack.edge, offer);
    expect(response.status).toBe(400);
    expect(response.headers.get('content-type')).toBe('application/problem+json');
    expect(await response.json()).toMatchObject({
      type: expect.stringMatching(/^urn:global-relay:problem:(malformed|unacceptable)-offer$/),
      status: 400,
      detail: expect.stringMatching(/\w/),
    });
    expect(await sessionsOf(stack)).toEqual(before);
  });
});

test('an offer without its line breaks is told how curl keeps them', async () => {
  const response = await postOffer(stack.edge, OFFER.replaceAll('\r\n', ''));
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({
    type: 'urn:global-relay:problem:malformed-offer',
    detail: expect.stringContaining('--data-binary'),
  });
});

test('a body that is not application/sdp is refused with 415', async () => {
  for (const type of ['application/json', 'text/plain', '']) {
    const response = await postOffer(stack.edge, OFFER, { 'content-type': type });
    expect(response.status).toBe(415);
    expect(await response.json()).toMatchObject({ status: 415 });
  }
});

test('an offer that is too large is refused with 413', async () => {
  const response = await postOffer(stack.edge, OFFER + 'a=x\r\n'.repeat(200_000));
  expect(response.status).toBe(413);
  expect(await response.json()).toMatchObject({ status: 413 });
});

describe('an odd but legal offer is answered', () => {
  test.each<[string, string]>([
    ['as browsers send it', OFFER],
    ['lines that end in LF alone', replaced('\r\n', '\n')],
    ['SAVP without feedback', replaced('UDP/TLS/RTP/SAVPF', 'UDP/TLS/RTP/SAVP')],
    [
      'mids that are words',
      replaced('BUNDLE 0 1', 'BUNDLE voice events')
        .replace('a=mid:0', 'a=mid:voice')
        .replace('a=mid:1', 'a=mid:events'),
    ],
    ['a negative session id', replaced('o=- 4611731400430051336', 'o=- -4611731400430051336')],
    [
      'a bundle-only data channel at port 0',
      replaced('m=application 9', 'm=application 0').replace('a=mid:1', 'a=bundle-only\r\na=mid:1'),
    ],
    [
      'audio alone',
      OFFER.slice(0, OFFER.indexOf('m=application')).replace('BUNDLE 0 1', 'BUNDLE 0'),
    ],
    ['unknown ICE options', replaced('a=ice-options:trickle', 'a=ice-options:ice2,trickle x-new')],
    ['unknown attributes', replaced('a=rtcp-mux', 'a=rtcp-mux\r\na=x-unknown:1 2 3')],
  ])('%s', async (_, offer) => {
    const response = await postOffer(stack.edge, offer);
    const answer = await response.text();
    expect({ status: response.status, answer }).toMatchObject({ status: 201 });
    expect(response.headers.get('content-type')).toBe('application/sdp');
    expect(valuesOf(answer, 'm=', /^\w+/)).toEqual(valuesOf(offer, 'm=', /^\w+/));
    expect(valuesOf(answer, 'a=mid:', /.+/)).toEqual(valuesOf(offer, 'a=mid:', /.+/));
    expect(valuesOf(answer, 'm=', /UDP\S+/)).toEqual(valuesOf(offer, 'm=', /UDP\S+/));
    expect(answer).toMatch(/^a=ice-ufrag:[A-Za-z0-9+/]{23}\r$/m);
    expect(answer).toMatch(/^a=candidate:.* typ host/m);

    const location = new URL(response.headers.get('location')!, stack.edge);
    expect((await fetch(location, { method: 'DELETE' })).status).toBe(200);
  });

  test('video in it is rejected with port 0, the rest answered', async () => {
    const video = 'm=video 9 UDP/TLS/RTP/SAVPF 96\r\nc=IN IP4 0.0.0.0\r\na=mid:2\r\na=sendrecv\r\n';
    const response = await postOffer(stack.edge, `${OFFER}${video}a=rtpmap:96 VP8/90000\r\n`);
    const answer = await response.text();
    expect({ status: response.status, answer }).toMatchObject({ status: 201 });
    expect(valuesOf(answer, 'm=', /^\w+ \d/)).toEqual([
      expect.stringMatching(/^audio [1-9]/),
      expect.stringMatching(/^application [1-9]/),
      'video 0',
    ]);
  });
});

/** The first match of `pattern` in what follows `prefix`, for every line that starts with it. */
function valuesOf(description: string, prefix: string, pattern: RegExp): (string | undefined)[] {
  return description
    .split(/\r?\n/)
    .filter((line) => line.startsWith(prefix))
    .map((line) => pattern.exec(line.slice(prefix.length))?.[0]);
}
