/** Calls by libwebrtc itself, which says a tone and must really hear it come back. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Place } from '../local/place.ts';
import { ScriptedCallError, scriptedCall } from '../local/scripted-call.ts';
import { startStack, type Stack } from '../local/stack.ts';
import { sessionsOf } from './support/sessions.ts';
import { until } from './support/until.ts';

/** Share of the tone in what is heard: well above what noise, silence or another tone would give. */
const TONE_SHARE = 0.8;

let stack: Stack;

beforeAll(async () => {
  stack = await startStack();
});

afterAll(() => stack?.close());

test.each<{ from: string; place: Place; toneHz: number; region: string }>([
  {
    from: 'Lagos',
    place: { colo: 'LOS', latitude: '6.52', longitude: '3.38', country: 'NG', continent: 'AF' },
    toneHz: 440,
    region: 'eu-central-1',
  },
  {
    from: 'San Francisco',
    place: { colo: 'SFO', latitude: '37.77', longitude: '-122.42', country: 'US', continent: 'NA' },
    toneHz: 620,
    region: 'us-east-1',
  },
  {
    from: 'Sydney',
    place: { colo: 'SYD', latitude: '-33.87', longitude: '151.21', country: 'AU', continent: 'OC' },
    toneHz: 1000,
    region: 'ap-northeast-1',
  },
])('a tone of $toneHz Hz from $from comes back from $region', async (scene) => {
  const { place, toneHz, region } = scene;
  const result = await scriptedCall({
    edge: stack.edge,
    place,
    toneHz,
    during: async (call) => {
      expect(await sessionsOf(stack)).toEqual({ [region]: 1 });
      await call.echo('text both ways');
      await call.echo(crypto.getRandomValues(new Uint8Array(50_000)));
      call.forgetSound();
      await call.hearTone();
    },
  });
  expect(result.path).toMatchObject({ colo: place.colo, cluster: region, ingress: region });
  expect(result.toneShare).toBeGreaterThan(TONE_SHARE);
  for (const ms of Object.values(result.stages)) expect(ms).toBeGreaterThan(0);
  await until(async () => Object.keys(await sessionsOf(stack)).length === 0);
});

test('a call that no edge answers fails with the reason', async () => {
  const place = { colo: 'FRA', latitude: '50.1', longitude: '8.7' };
  const call = scriptedCall({ edge: 'http://127.0.0.1:9', place });
  await expect(call).rejects.toThrow(ScriptedCallError);
});
