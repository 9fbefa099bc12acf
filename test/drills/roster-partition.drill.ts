/** The transceivers of a region are cut off from the edge's roster, in silence, while calls are set up. */
import { ROSTER_DEAD } from '../../protocol/roster.ts';
import type { Drill } from './drill.ts';
import { NO_GAP } from './limits.ts';
import { neverTaken } from './setups.ts';
import { ELSEWHERE, HOME } from './system.ts';

const CALLS = 6;

/** Milliseconds until the edge sends calls elsewhere, at most: a roster is used for 10 s, of which 1 s as new. */
const ELSEWHERE_BY = ROSTER_DEAD + 10_000;

/** Milliseconds of the cut, and until all is as before it. */
const CUT = ELSEWHERE_BY + 4_000;
const BACK_BY = 15_000;

export const drill: Drill = {
  name: 'roster-partition',
  holds:
    'A region is cut off from the edge: calls there notice nothing, new ones start there or in another region, and it takes calls again once it is back.',
  async run(stage) {
    const system = await stage.system();
    const region = system.region(HOME);
    const calls = await stage.calls(system, HOME, CALLS);
    calls.measure();
    const setups = stage.setups(system, HOME);
    const cutAt = performance.now();
    region.rosterLink.cut();
    await stage.pause(CUT);
    const mendedAt = performance.now();
    region.rosterLink.mend();
    await stage.until('the region to be back', () => system.isWhole());
    const recovery = performance.now() - mendedAt;
    stage.must(recovery <= BACK_BY, `the region was back only after ${recovery.toFixed(0)} ms`);
    const backAt = performance.now();
    await stage.pause(2_000);
    const offered = await setups.end();
    const moved = offered.find((setup) => setup.region === ELSEWHERE)?.askedAt;
    stage.must(moved !== undefined, 'no call went to another region');
    const late = offered.filter(({ askedAt, region: taker }) => {
      return askedAt > cutAt + ELSEWHERE_BY && askedAt < mendedAt && taker !== ELSEWHERE;
    });
    stage.must(late.length === 0, `${late.length} calls went to a region that is cut off`);
    const { region: last } = offered.at(-1)!;
    stage.must(
      last === HOME,
      `the last call went to ${last}, ${performance.now() - backAt} ms after`,
    );
    const gap = calls.longestGap;
    stage.must(gap <= NO_GAP, `a call was not heard for ${gap.toFixed(0)} ms`);
    const lost = (await calls.lost()) + neverTaken(offered).length;
    stage.must(lost === 0, `${lost} calls were lost`);
    const after = moved === undefined ? '' : ` after ${((moved - cutAt) / 1000).toFixed(1)} s`;
    const note = `new calls went to another region${after}`;
    return { calls: CALLS + offered.length, lost, gap, recovery, note };
  },
};
