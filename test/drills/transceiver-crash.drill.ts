/** A transceiver's process is killed under calls. */
import type { Drill } from './drill.ts';
import { NO_GAP, TOLD } from './limits.ts';
import { neverTaken } from './setups.ts';
import { HOME } from './system.ts';

const CALLS = 10;
const NEW_CALLS = 4;

export const drill: Drill = {
  name: 'transceiver-crash',
  holds:
    'A transceiver dies: its clients see it within 10 s and call anew at once, and calls of others are untouched.',
  async run(stage) {
    const system = await stage.system();
    const region = system.region(HOME);
    const calls = await stage.calls(system, HOME, CALLS);
    const [victim] = region.ids;
    const [theirs, others] = calls.split(({ path }) => path.transceiver === String(victim));
    stage.log(`${theirs.count} calls are with the transceiver that dies`);
    stage.must(theirs.count > 0 && others.count > 0, 'all calls are with one transceiver');
    calls.measure();
    const setups = stage.setups(system, HOME);
    const crashedAt = performance.now();
    await region.transceiver(victim!).kill();
    const fresh = await stage.calls(system, HOME, NEW_CALLS);
    await stage.until('clients to see that their calls are over', () =>
      theirs.all.every(({ client }) => client.connectionState !== 'connected'),
    );
    const recovery = performance.now() - crashedAt;
    stage.must(recovery <= TOLD, `clients saw it only after ${(recovery / 1000).toFixed(1)} s`);
    const gap = others.longestGap;
    stage.must(gap <= NO_GAP, `a call of another was not heard for ${gap.toFixed(0)} ms`);
    const offered = await setups.end();
    const lost = (await others.lost()) + (await fresh.lost()) + neverTaken(offered).length;
    stage.must(lost === 0, `${lost} calls of others, or new ones, were lost`);
    const counted = others.count + NEW_CALLS + offered.length;
    const note = `${theirs.count} calls ended with their transceiver`;
    return { calls: counted, lost, gap, recovery, note };
  },
};
