/** A call by libwebrtc that restarts ICE in its middle, through edge and relay: one call before and after. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { candidateOf } from '../local/region-handle.ts';
import { scriptedCall } from '../local/scripted-call.ts';
import { startStack, type Stack } from '../local/stack.ts';
import { sessionsOf } from './support/sessions.ts';
import { until } from './support/until.ts';

const FRANKFURT = { colo: 'FRA', latitude: '50.11', longitude: '8.68', country: 'DE' };

let stack: Stack;

beforeAll(async () => {
  stack = await startStack();
});

afterAll(() => stack?.close());

test('media and data go on by the new ICE', async () => {
  const { location } = await scriptedCall({
    edge: stack.edge,
    place: FRANKFURT,
    during: async (call) => {
      for (let restart = 0; restart < 2; restart++) {
        const before = await call.usedCandidate();
        const candidates = await call.restartIce();
        expect(candidates).toEqual(stack.regions.get('eu-central-1')!.relays.map(candidateOf));
        await until(async () => {
          const now = await call.usedCandidate();
          return now !== undefined && now !== before;
        });
        call.forgetSound();
        await call.hearTone();
        await call.echo(`after restart ${restart}`);
        expect(call.connectionState).toBe('connected');
        expect(await sessionsOf(stack)).toEqual({ 'eu-central-1': 1 });
      }
    },
  });
  await until(async () => Object.keys(await sessionsOf(stack)).length === 0);

  const response = await fetch(stack.edge + location, {
    method: 'PATCH',
    headers: { 'content-type': 'application/trickle-ice-sdpfrag', 'if-match': '*' },
    body: 'a=ice-ufrag:qYcw\r\na=ice-pwd:9KgWRQkJ4Pj0Zn3v6y6cM3QhL\r\n',
  });
  expect(response.status).toBe(404);
  await response.text();
});
