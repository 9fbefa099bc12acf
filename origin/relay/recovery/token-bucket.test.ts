import { expect, it } from 'vitest';
import { TokenBucket } from './token-bucket.ts';

function taken(bucket: TokenBucket, times: number, now: number): number {
  return Array.from({ length: times }, () => bucket.take(now)).filter(Boolean).length;
}

it('allows a burst at once, and the rate after it', () => {
  const bucket = new TokenBucket({ burst: 10, perSecond: 4 });
  expect(taken(bucket, 20, 0)).toBe(10);
  expect(taken(bucket, 20, 1000)).toBe(4);
  expect(taken(bucket, 20, 1250)).toBe(1);
  expect(taken(bucket, 20, 1_000_000)).toBe(10);
});
