/** Nothing passes between clients and relays for a while. */
import { ImpairedPath } from '../network/impaired-path.ts';
import type { Drill } from './drill.ts';
import { HOME } from './system.ts';

const CALLS = 6;

/** Milliseconds of nothing: a lift, or a change from Wi-Fi to the same network's next access point. */
const BLACKOUT = 2_000;

/** Milliseconds afterwards in which all must be heard: nothing has to be made anew. */
const AT_ONCE = 1_000;

export const drill: Drill = {
  name: 'blackout',
  holds:
    'Nothing passes for 2 s: every call is heard again at once afterwards, with nothing to do for anybody.',
  async run(stage) {
    const system = await stage.system();
    const path = stage.use(await ImpairedPath.open(system.region(HOME).listener, {}, 1));
    const calls = await stage.calls(system, HOME, CALLS, async () => path.address);
    calls.measure();
    path.isCut = true;
    await stage.pause(BLACKOUT);
    path.isCut = false;
    const recovery = await calls.heardAgain(performance.now(), stage.signal);
    const gap = calls.longestGap;
    const lost = await calls.lost();
    stage.must(gap >= BLACKOUT, `the longest time without audio was only ${gap.toFixed(0)} ms`);
    stage.must(recovery <= AT_ONCE, `all were heard again only ${recovery.toFixed(0)} ms after`);
    stage.must(lost === 0, `${lost} of ${CALLS} calls were lost`);
    return { calls: CALLS, lost, gap, recovery };
  },
};
