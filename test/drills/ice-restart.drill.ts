/** Clients restart ICE in the midst of their calls, as they do when their network changes. */
import type { Drill } from './drill.ts';
import { NO_GAP } from './limits.ts';
import { HOME } from './system.ts';

const CALLS = 8;

export const drill: Drill = {
  name: 'ice-restart',
  holds: 'Clients restart ICE mid-call: the calls go on by the new ICE, and nobody hears it.',
  async run(stage) {
    const system = await stage.system();
    const calls = await stage.calls(system, HOME, CALLS);
    const before = await Promise.all(calls.all.map(({ client }) => client.usedCandidate()));
    calls.measure();
    const start = performance.now();
    await Promise.all(calls.all.map(({ client }) => client.restartIce()));
    await stage.until('every call to use its new ICE', async () => {
      const now = await Promise.all(calls.all.map(({ client }) => client.usedCandidate()));
      return now.every((candidate, i) => candidate !== undefined && candidate !== before[i]);
    });
    const recovery = performance.now() - start;
    const lost = await calls.lost();
    const gap = calls.longestGap;
    stage.must(gap <= NO_GAP, `a call was not heard for ${gap.toFixed(0)} ms`);
    stage.must(lost === 0, `${lost} of ${CALLS} calls were lost`);
    return { calls: CALLS, lost, gap, recovery };
  },
};
