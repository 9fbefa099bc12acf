/** A relay's process is killed under calls, and its supervisor starts it again. */
import type { Drill } from './drill.ts';
import { HOME } from './system.ts';

const CALLS = 10;

/** Milliseconds after the new relay forwards in which all must be heard: Redis heals calls before libwebrtc's next checks would. */
const HEALED = 2_500;

export const drill: Drill = {
  name: 'relay-kill',
  holds: 'A relay dies and is started again: every call goes on by itself, as soon as it forwards.',
  async run(stage) {
    const system = await stage.system();
    const region = system.region(HOME);
    const calls = await stage.calls(system, HOME, CALLS);
    calls.measure();
    await region.relay.kill();
    await region.startRelay();
    const recovery = await calls.heardAgain(performance.now(), stage.signal);
    const gap = calls.longestGap;
    const restored = await region.relay.metric('relay_flow_creations_total{source="redis"}');
    // The longer the relay is away, the more checks come first, which make their flows by themselves.
    stage.must(restored > 0, 'no flow came from Redis');
    stage.must(recovery <= HEALED, `all were heard again only ${recovery.toFixed(0)} ms after`);
    const lost = await calls.lost();
    stage.must(lost === 0, `${lost} of ${CALLS} calls were lost`);
    return { calls: CALLS, lost, gap, recovery };
  },
};
