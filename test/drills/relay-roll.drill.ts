/** Relays take each other's place by hand-over, as a rolling restart does, under calls. */
import type { Drill } from './drill.ts';
import { NO_GAP } from './limits.ts';
import { neverTaken } from './setups.ts';
import { HOME } from './system.ts';

const CALLS = 10;

/** How often the relay is replaced. */
const ROLLS = 2;

export const drill: Drill = {
  name: 'relay-roll',
  holds:
    'Relays are replaced one after another: no call is lost or interrupted, and new ones start.',
  async run(stage) {
    const system = await stage.system();
    const region = system.region(HOME);
    const calls = await stage.calls(system, HOME, CALLS);
    const setups = stage.setups(system, HOME);
    calls.measure();
    let recovery = 0;
    for (let roll = 0; roll < ROLLS; roll++) {
      const old = region.relay;
      const start = performance.now();
      await region.replaceRelay();
      old.signal('SIGTERM');
      recovery = Math.max(recovery, performance.now() - start);
      const end = await old.ended;
      stage.must(end === 0, `a relay ended with ${end}`);
      stage.log(`relay ${roll + 1} was replaced`);
    }
    const gap = calls.longestGap;
    stage.must(gap <= NO_GAP, `a call was not heard for ${gap.toFixed(0)} ms`);
    const offered = await setups.end();
    const lost = (await calls.lost()) + neverTaken(offered).length;
    stage.must(lost === 0, `${lost} calls were lost`);
    return { calls: CALLS + offered.length, lost, gap, recovery };
  },
};
