import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { regionJsonSchema, SCHEMA_FILE } from './schema.ts';

test('the JSON Schema is the one that region files are checked by', async () => {
  const committed = await readFile(SCHEMA_FILE, 'utf8');
  expect(committed, 'run `node regions/schema.ts`').toBe(await regionJsonSchema());
});
