/** What one thread has counted, without a flow table. */
import { sumCounters, type Counters, type RelayCounters } from '../counters.ts';

export function totals(counters: Counters): RelayCounters {
  return sumCounters([counters], {
    tentative: 0,
    proven: 0,
    expired: 0,
    evicted: 0,
    opened: 0,
    restored: 0,
  });
}
