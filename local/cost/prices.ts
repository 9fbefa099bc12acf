/**
 * Examples of list prices in US dollars, on demand, in us-east-1: put those of your own bill in their place. Those of
 * the accelerator and of Cloudflare are of the sellers' pages (https://aws.amazon.com/global-accelerator/pricing/,
 * https://developers.cloudflare.com/workers/platform/pricing/, https://www.cloudflare.com/plans/), the others at second hand, all of them of 2026-11.
 */
export const PRICES = {
  /** An hour of one processor; the sizes of an instance family cost in proportion. */
  processorHour: { c7g: 0.03625, c7gn: 0.0624 },
  /** An hour of one processor of a node of ElastiCache for Redis, likewise. */
  redisProcessorHour: { r7g: 0.1095 },
  /** What a machine has beside: an hour of its public IPv4 address and of its metrics by the minute. */
  addressHour: 0.005,
  metricsHour: 0.00288,
  /** A GB of its disk for a month. */
  diskMonth: 0.08,
  loadBalancerHour: 0.0225,
  /** A GB in either direction. */
  loadBalancerGB: 0.006,
  /** A GB from one zone to another, which is paid for at both ends. */
  zoneGB: 0.02,
  /** A GB to the Internet, of the first 10 TB of a month. */
  egressGB: 0.09,
  acceleratorHour: 0.025,
  /** A GB in the direction that has more, from North America to North America. */
  acceleratorGB: 0.015,
  keyMonth: 1,
  workersMonth: 5,
  /** The Business plan of the zone, by the month, which the rule that limits calls needs. */
  zoneMonth: 250,
  /** A million, and no allowance of a plan is taken off. */
  workerRequests: 0.3,
  objectRequests: 0.15,
  /** A GB-second of an object that is awake. */
  objectTime: 0.0000125,
} as const;

export type Prices = typeof PRICES;
