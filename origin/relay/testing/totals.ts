/** What one thread has counted, without a flow table. */
import { sumCounters, type Counters, type FlowGauges, type RelayCounters } from '../counters.ts';

const NO_FLOWS: FlowGauges = {
  tentative: 0,
  proven: 0,
  expired: 0,
  evicted: 0,
  opened: 0,
  restored: 0,
  handedOver: 0,
};

export function totals(counters: Counters): RelayCounters {
  return sumCounters([counters], NO_FLOWS);
}
