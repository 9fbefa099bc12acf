import { anything, assert, constantFrom, dictionary, oneof, property } from 'fast-check';
import { expect, it } from 'vitest';
import { placeOf } from './place.ts';

const at = (cf: object | undefined) => {
  const request = new Request('https://edge.test/');
  Object.defineProperty(request, 'cf', { value: cf });
  return placeOf(request);
};

const NOWHERE = {
  colo: undefined,
  latitude: undefined,
  longitude: undefined,
  country: undefined,
  continent: undefined,
  rtt: undefined,
};

function isPlace(cf: object): boolean {
  const { rtt = 1, ...texts } = at(cf);
  return rtt > 0 && Object.values(texts).every((text) => typeof (text ?? '') === 'string');
}

it('is what Cloudflare tells', () => {
  const place = { colo: 'FRA', latitude: '50.1', longitude: '8.7', country: 'DE', continent: 'EU' };
  expect(at({ ...place, clientTcpRtt: 12 })).toEqual({ ...place, rtt: 12 });
  expect(at({ clientTcpRtt: 0, clientQuicRtt: 7 }).rtt).toBe(7);
});

it.each([
  ['nothing', undefined],
  ['other types', { colo: 5, latitude: 50.1, longitude: {}, country: ['DE'], clientTcpRtt: '9' }],
  ['no round trips', { clientTcpRtt: -1, clientQuicRtt: NaN }],
  ['text beyond measure', { colo: 'F'.repeat(33), country: 'D'.repeat(10_000) }],
])('is unknown where that is %s', (_, cf) => {
  expect(at(cf)).toEqual(NOWHERE);
});

it('has texts and a number, whatever it is told', () => {
  const field = oneof(constantFrom(...Object.keys(NOWHERE), 'clientTcpRtt', 'clientQuicRtt'));
  const told = dictionary(field, anything());
  expect(() => assert(property(told, isPlace))).not.toThrow();
});
