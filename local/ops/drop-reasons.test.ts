import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { DROP_MEANINGS } from './drop-reasons.ts';

const GUIDE = new URL('../../docs/relay.md', import.meta.url);

test('the guide for operators says of each drop what the command says', async () => {
  const text = await readFile(GUIDE, 'utf8');
  const section = text.slice(text.indexOf('## Why packets are dropped'));
  const rows = [...section.matchAll(/^\| `([a-z-]+)` +\| (.+?) +\| (.+?) +\|$/gm)];
  const told = rows.map(([, reason, means, todo]) => [reason, { means, todo }]);
  expect(Object.fromEntries(told)).toEqual(DROP_MEANINGS);
});
