/** Anycast leads clients to another region's relay in the midst of their calls, and back again. */
import type { Drill } from './drill.ts';
import { ELSEWHERE, HOME } from './system.ts';

const CALLS = 8;

/** Milliseconds until the client's next check brings the new relay its flow, and some for a busy machine. */
const NEXT_CHECK = 2_500 + 1_000;

/** Milliseconds to stay with each relay. */
const STAY = 3_000;

export const drill: Drill = {
  name: 'anycast-shift',
  holds:
    'Packets of clients come to another region’s relay mid-call: the calls go on where they are, by the next check.',
  async run(stage) {
    const system = await stage.system();
    const [home, elsewhere] = [system.region(HOME).listener, system.region(ELSEWHERE).listener];
    const calls = await stage.calls(system, HOME, CALLS);
    calls.measure();
    for (const to of [elsewhere, home]) {
      for (const { lastMile } of calls.all) lastMile.shift(home, to);
      const shiftedAt = performance.now();
      await stage.pause(STAY);
      await calls.heardAgain(shiftedAt + STAY, stage.signal);
    }
    const gap = calls.longestGap;
    const lost = await calls.lost();
    stage.must(gap <= NEXT_CHECK, `a call was not heard for ${gap.toFixed(0)} ms`);
    stage.must(lost === 0, `${lost} of ${CALLS} calls were lost`);
    return { calls: CALLS, lost, gap };
  },
};
