/** What all drills of a Redis in trouble have in common: calls go on and start, and flows are kept again after it. */
import { Redis } from 'ioredis';
import type { Drill } from './drill.ts';
import { NO_GAP } from './limits.ts';
import type { DrillRegion } from './region.ts';
import { neverTaken } from './setups.ts';
import { HOME } from './system.ts';

const CALLS = 6;

/** Real calls made in the midst of the fault. */
const NEW_CALLS = 2;

/** Milliseconds the fault lasts: longer than any record in Redis lives and any check takes. */
const FAULT = 12_000;

export interface RedisFault extends Pick<Drill, 'name' | 'holds'> {
  readonly begin: (region: DrillRegion) => Promise<void> | void;
  readonly end: (region: DrillRegion) => Promise<void> | void;
  /** Whether the relay notices and keeps all flows again at once; it does each minute in any case. */
  readonly isNoticed: boolean;
}

export function redisDrill({ name, holds, begin, end, isNoticed }: RedisFault): Drill {
  return {
    name,
    holds,
    async run(stage) {
      const system = await stage.system();
      const region = system.region(HOME);
      const calls = await stage.calls(system, HOME, CALLS);
      await stage.until('the flows to be kept', () => flowsKept(region, CALLS));
      calls.measure();
      const faultAt = performance.now();
      await begin(region);
      const setups = stage.setups(system, HOME);
      const fresh = await stage.calls(system, HOME, NEW_CALLS);
      await stage.pause(Math.max(0, faultAt + FAULT - performance.now()));
      await end(region);
      const recovery = await stage.until('the flows to be kept again', () => {
        return flowsKept(region, isNoticed ? CALLS + NEW_CALLS : NEW_CALLS);
      });
      const gap = Math.max(calls.longestGap, fresh.longestGap);
      const offered = await setups.end();
      const lost = (await calls.lost()) + (await fresh.lost()) + neverTaken(offered).length;
      stage.must(gap <= NO_GAP, `a call was not heard for ${gap.toFixed(0)} ms`);
      stage.must(lost === 0, `${lost} calls were lost`);
      const here = offered.filter((setup) => setup.region === HOME).length;
      const note = `${here} of ${offered.length} setups stayed in the region`;
      return { calls: CALLS + NEW_CALLS + offered.length, lost, gap, recovery, note };
    },
  };
}

/** Whether Redis has as many flows at least: a client with several addresses has several. */
async function flowsKept(region: DrillRegion, count: number): Promise<boolean> {
  const redis = new Redis(region.redis.url, { retryStrategy: () => null, lazyConnect: true });
  // What it says is no more than its commands do.
  redis.on('error', () => {});
  try {
    return (await redis.keys('flow:*')).length >= count;
  } catch {
    return false;
  } finally {
    redis.disconnect();
  }
}

/** Everything that Redis holds is gone at once. */
export async function flush(region: DrillRegion): Promise<void> {
  const redis = new Redis(region.redis.url);
  await redis.flushall();
  redis.disconnect();
}
