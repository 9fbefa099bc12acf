/** A whole region is killed at once: Redis, relay and transceivers. */
import type { Drill } from './drill.ts';
import { NO_GAP, TOLD } from './limits.ts';
import { neverTaken } from './setups.ts';
import { ELSEWHERE, HOME } from './system.ts';

/** Calls of each region. */
const CALLS = 5;
const NEW_CALLS = 2;

export const drill: Drill = {
  name: 'region-lost',
  holds:
    'A region is lost: its clients see it within 10 s and their new calls go to another one, whose calls are untouched.',
  async run(stage) {
    const system = await stage.system();
    const theirs = await stage.calls(system, HOME, CALLS);
    const others = await stage.calls(system, ELSEWHERE, CALLS);
    others.measure();
    const lostAt = performance.now();
    await system.region(HOME).kill();
    const setups = stage.setups(system, HOME);
    const fresh = await stage.calls(system, HOME, NEW_CALLS);
    const recovery = performance.now() - lostAt;
    for (const { path } of fresh.all) {
      stage.must(path.cluster === ELSEWHERE, `a new call went to ${path.cluster}`);
    }
    await stage.until('clients to see that their calls are over', () =>
      theirs.all.every(({ client }) => client.connectionState !== 'connected'),
    );
    const told = performance.now() - lostAt;
    stage.must(told <= TOLD, `clients saw it only after ${(told / 1000).toFixed(1)} s`);
    const offered = await setups.end();
    const gap = others.longestGap;
    stage.must(gap <= NO_GAP, `a call of the other region was not heard for ${gap.toFixed(0)} ms`);
    const lost = (await others.lost()) + (await fresh.lost()) + neverTaken(offered).length;
    stage.must(lost === 0, `${lost} calls of others, or new ones, were lost`);
    const note = `${CALLS} calls ended with their region, which clients saw after ${told.toFixed(0)} ms`;
    return { calls: CALLS + NEW_CALLS + offered.length, lost, gap, recovery, note };
  },
};
