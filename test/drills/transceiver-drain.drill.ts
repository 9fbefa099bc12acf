/** A transceiver is told to end while it has calls. */
import type { Drill } from './drill.ts';
import { NO_GAP } from './limits.ts';
import { neverTaken } from './setups.ts';
import { HOME } from './system.ts';

const CALLS = 8;
const NEW_CALLS = 4;

/** Milliseconds of a drain in which its calls must go on. */
const DRAIN = 5_000;

export const drill: Drill = {
  name: 'transceiver-drain',
  holds:
    'A transceiver drains: its calls go on until they hang up, new ones go elsewhere, and then it ends.',
  async run(stage) {
    const system = await stage.system();
    const region = system.region(HOME);
    const calls = await stage.calls(system, HOME, CALLS);
    const [victim] = region.ids;
    const transceiver = region.transceiver(victim!);
    const [theirs, others] = calls.split(({ path }) => path.transceiver === String(victim));
    stage.must(theirs.count > 0, 'no call is with the transceiver that drains');
    calls.measure();
    const setups = stage.setups(system, HOME);
    transceiver.signal('SIGTERM');
    const fresh = await stage.calls(system, HOME, NEW_CALLS);
    for (const { path } of fresh.all) {
      stage.must(path.transceiver !== String(victim), 'a new call went to the one that drains');
    }
    await stage.pause(DRAIN);
    const gap = calls.longestGap;
    stage.must(gap <= NO_GAP, `a call was not heard for ${gap.toFixed(0)} ms`);
    const offered = await setups.end();
    const lost = (await calls.lost()) + (await fresh.lost()) + neverTaken(offered).length;
    stage.must(lost === 0, `${lost} calls were lost`);
    await theirs.hangUp();
    const hungUpAt = performance.now();
    const end = await transceiver.ended;
    const recovery = performance.now() - hungUpAt;
    stage.must(end === 0, `it ended with ${end}`);
    stage.must((await others.lost()) === 0, 'calls of others ended with it');
    return { calls: CALLS + NEW_CALLS + offered.length, lost, gap, recovery };
  },
};
