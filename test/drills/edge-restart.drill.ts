/** The edge is killed while calls are set up, and started again. */
import type { Drill } from './drill.ts';
import { NO_GAP } from './limits.ts';
import { neverTaken } from './setups.ts';
import { HOME } from './system.ts';

const CALLS = 6;
const NEW_CALLS = 2;

/** Milliseconds until transceivers are back in the rosters: they try again each 5 s at the latest. */
const JOINED = 5_000 + 3_000;

export const drill: Drill = {
  name: 'edge-restart',
  holds:
    'The edge dies and comes back: live calls notice nothing, and setups go through once it is back.',
  async run(stage) {
    const system = await stage.system();
    const calls = await stage.calls(system, HOME, CALLS);
    calls.measure();
    const setups = stage.setups(system, HOME);
    await stage.pause(2_000);
    await system.edge.kill();
    stage.log('the edge is gone');
    await stage.pause(1_000);
    await system.edge.start();
    const backAt = performance.now();
    await system.untilJoined(stage.signal);
    const recovery = performance.now() - backAt;
    stage.must(recovery <= JOINED, `the rosters were whole only after ${recovery.toFixed(0)} ms`);
    const wholeAt = performance.now();
    const fresh = await stage.calls(system, HOME, NEW_CALLS);
    await stage.pause(2_000);
    const offered = await setups.end();
    const late = offered.filter(({ askedAt, tries }) => askedAt > wholeAt && tries > 1);
    stage.must(late.length === 0, `${late.length} setups failed at first after that`);
    const gap = calls.longestGap;
    stage.must(gap <= NO_GAP, `a call was not heard for ${gap.toFixed(0)} ms`);
    const lost = (await calls.lost()) + (await fresh.lost()) + neverTaken(offered).length;
    stage.must(lost === 0, `${lost} calls were lost`);
    // What they hold is from before the edge's end.
    await calls.hangUp();
    const retried = offered.filter(({ tries }) => tries > 1).length;
    const note = `of ${offered.length} setups the client retried ${retried}`;
    return { calls: CALLS + NEW_CALLS + offered.length, lost, gap, recovery, note };
  },
};
