/** Calls by clients of other makes: each says a tone and must hear that tone, and nothing else, come back. */
import * as v from 'valibot';
import { describe, expect, test } from 'vitest';
import { HeardSchema, type Heard } from './heard.ts';
import { inNamespace } from './namespace.ts';
import { buildPion } from './pion.ts';

const CLEAR = 0.8;
const ABSENT = 0.05;

async function heardBy(client: string, ...more: string[]): Promise<Heard> {
  return v.parse(HeardSchema, JSON.parse(await inNamespace('scene.ts', client, ...more)));
}

function expectOwnTone({ toneShare, otherShare, dataEchoed }: Heard): void {
  expect(toneShare).toBeGreaterThan(CLEAR);
  expect(otherShare).toBeLessThan(ABSENT);
  expect(dataEchoed).toBe(true);
}

// Only Linux has network namespaces.
describe.skipIf(process.platform !== 'linux')('each hears its own tone', () => {
  test.each(['chromium', 'firefox', 'aiortc'])('%s', async (client) => {
    expectOwnTone(await heardBy(client));
    expect.assertions(3);
  });

  test('Pion', async ({ skip }) => {
    await using built = await buildPion();
    skip(built.program === undefined, built.reason);
    expectOwnTone(await heardBy('pion', built.program ?? ''));
    expect.assertions(3);
  });
});
