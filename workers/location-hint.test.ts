import { expect, it } from 'vitest';
import { locationHint } from './location-hint.ts';

it.each([
  ['wnam', 45.8, -119.7],
  ['enam', 38.95, -77.45],
  ['sam', -23.55, -46.63],
  ['weur', 51.5, -0.1],
  ['eeur', 52.2, 21.0],
  ['apac-ne', 37.6, 127.0],
  ['apac-se', 1.35, 103.8],
  ['oc', -37.8, 145.0],
  ['afr', -33.9, 18.4],
  ['me', 25.2, 55.3],
])('hints %s for %d, %d', (hint, latitude, longitude) => {
  expect(locationHint({ latitude, longitude })).toBe(hint);
});
