import { expect, test } from 'vitest';
import { readFootprint } from '../origin/footprint-files.ts';
import type { Footprint } from '../protocol/footprint.ts';
import { edgeLost, regionLost } from './trouble.ts';

const REGIONS = new URL('../regions', import.meta.url).pathname;
const ALL = ['us-east-1', 'eu-central-1', 'ap-northeast-1'];
const footprint = await readFootprint(REGIONS);

/** The project's own regions in the given states, whatever the files say now. */
function inState(states: Readonly<Record<string, 'planned' | 'active' | 'draining'>>): Footprint {
  const entries = ALL.map((name) => {
    return [name, { ...footprint[name]!, state: states[name] ?? 'active' }] as const;
  });
  return Object.fromEntries(entries);
}

test('a lost region names those that take over, failover first', () => {
  const text = regionLost('ap-northeast-1', 'by SIGKILL', inState({}), ALL.toReversed());
  expect(text).toContain('ap-northeast-1: its process has ended by SIGKILL.');
  expect(text).toContain('new ones from near it go to us-east-1 or eu-central-1.');
  expect(text).toContain('start again');
});

test('only regions that run and take calls do', () => {
  const draining = inState({ 'eu-central-1': 'draining' });
  const left = ['eu-central-1', 'us-east-1'];
  expect(regionLost('ap-northeast-1', '', draining, left)).toContain('go to us-east-1.');
  expect(regionLost('us-east-1', '', draining, ['eu-central-1'])).toContain('new ones fail');
});

test('a region that took no calls is not missed', () => {
  const text = regionLost('eu-central-1', '', inState({ 'eu-central-1': 'planned' }), ALL);
  expect(text).toContain('for it is planned');
});

test('a lost edge ends no call', () => {
  expect(edgeLost('with exit code 1')).toContain('calls that stand go on');
});
