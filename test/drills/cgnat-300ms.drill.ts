/** A carrier's NAT sends each client from another port several times a second. */
import { Nat } from '../network/nat.ts';
import type { Drill } from './drill.ts';
import { HOME } from './system.ts';

const CALLS = 4;

/** Milliseconds between two ports. */
const INTERVAL = 300;

/** Milliseconds that it lasts: past the 15 s after which clients give up a path that answers no checks. */
const DURATION = 20_000;

/** Milliseconds between two packets of a client's audio. */
const PACKET = 20;

/** Milliseconds until the client's next check tells the last port, and some for a busy machine. */
const NEXT_CHECK = 2_500 + 1_000;

export const drill: Drill = {
  name: 'cgnat-300ms',
  holds:
    'A NAT changes every port each 300 ms for 20 s: no call is given up, some of its audio passes after each check, and all of it by the next check once ports stay.',
  async run(stage) {
    const system = await stage.system();
    const nat = stage.use(new Nat(system.region(HOME).listener));
    const calls = await stage.calls(system, HOME, CALLS, async () => (await nat.host()).address);
    calls.measure();
    const before = calls.all.map(({ audio }) => audio.distinct);
    const end = performance.now() + DURATION;
    while (performance.now() < end) {
      await nat.rebind('open');
      await stage.pause(INTERVAL);
    }
    const heard = calls.all.map(({ audio }, i) => audio.distinct - before[i]!);
    const lastPortAt = performance.now();
    const recovery = await calls.heardAgain(lastPortAt, stage.signal);
    const gap = calls.longestGap;
    const lost = await calls.lost();
    const share = Math.min(...heard) / (DURATION / PACKET);
    stage.must(share > 0, 'a call had no audio at all while ports changed');
    stage.must(recovery <= NEXT_CHECK, `all were heard only ${recovery.toFixed(0)} ms after`);
    stage.must(lost === 0, `${lost} of ${CALLS} calls were lost`);
    const note = `at least ${(100 * share).toFixed(0)} % of a call’s audio passed while ports changed`;
    return { calls: CALLS, lost, gap, recovery, note };
  },
};
