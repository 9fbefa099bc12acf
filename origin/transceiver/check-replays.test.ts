import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { CheckReplays, MAX_REMEMBERED_CHECKS } from './check-replays.ts';

test('a check may come again by its own path alone', () => {
  const replays = new CheckReplays();
  const [id, other] = [randomBytes(12), randomBytes(12)];
  expect(replays.isReplay(id, 'a')).toBe(false);
  expect(replays.isReplay(id, 'a')).toBe(false);
  expect(replays.isReplay(id, 'b')).toBe(true);
  expect(replays.isReplay(id, 'a')).toBe(false);
  expect(replays.isReplay(other, 'b')).toBe(false);
});

test('the oldest are forgotten first', () => {
  const replays = new CheckReplays();
  const ids = Array.from({ length: MAX_REMEMBERED_CHECKS + 1 }, () => randomBytes(12));
  for (const id of ids) expect(replays.isReplay(id, 'a')).toBe(false);
  expect(replays.isReplay(ids[1]!, 'b')).toBe(true);
  expect(replays.isReplay(ids[0]!, 'b')).toBe(false);
});
