import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { NO_DROPS } from './drops.ts';

const GUIDE = new URL('../../docs/relay.md', import.meta.url);

test('the guide for operators explains every reason for a drop, and no other', async () => {
  const text = await readFile(GUIDE, 'utf8');
  const section = text.slice(text.indexOf('## Why packets are dropped'));
  const explained = [...section.matchAll(/^\| `([a-z-]+)`/gm)].map(([, reason]) => reason);
  expect(new Set(explained)).toEqual(new Set(Object.keys(NO_DROPS)));
});
