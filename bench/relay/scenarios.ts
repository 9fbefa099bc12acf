/** What is measured, and of which relays. */
import type { Load, Measurement } from './measure.ts';
import { SUBJECTS } from './subjects.ts';

export interface Scenario {
  readonly name: string;
  readonly load: Omit<Load, 'seconds'>;
  /** All where it is left out. */
  readonly subjects?: readonly string[];
  /** The figures that it is for. */
  readonly figures: readonly (keyof Measurement)[];
}

/** A voice packet: 20 ms of Opus at 32 kbit/s under SRTP, twice as long to be on the safe side. */
const VOICE = { flows: 1000, payload: 172 };

/**
 * At full speed packets wait for the relay, so that all take as many at a time as they can: what a packet
 * costs is then a matter of the relay alone, not of how the load is scheduled.
 */
const FULL_SPEED = 0;

const OWN = [SUBJECTS.relay, SUBJECTS.single, SUBJECTS.threads, SUBJECTS.dgram];

export const UP = 'client → transceiver';
export const DOWN = 'transceiver → client';
export const FASTEST = 'as fast as can be';
export const ECHO = 'there and back at 20 kpps';
export const FLOOD = '10 kpps beside 200 kpps of forged checks';

export const SCENARIOS: readonly Scenario[] = [
  {
    name: UP,
    load: { ...VOICE, mode: 'up', rate: FULL_SPEED },
    figures: ['cpuPerPacket', 'rate', 'loss'],
  },
  {
    name: DOWN,
    load: { ...VOICE, mode: 'down', rate: FULL_SPEED },
    subjects: [...OWN, SUBJECTS.c, SUBJECTS.go],
    figures: ['cpuPerPacket', 'rate', 'loss'],
  },
  {
    name: `${DOWN}, frames joined`,
    load: { ...VOICE, mode: 'down', rate: FULL_SPEED, join: 1452 },
    subjects: OWN,
    figures: ['cpuPerPacket', 'rate', 'loss'],
  },
  {
    name: FASTEST,
    // One call for several packets, or the load would be slower than the relay.
    load: { ...VOICE, mode: 'up', rate: FULL_SPEED, burst: 8 },
    figures: ['rate', 'cpuPerPacket', 'cpuShare', 'collections', 'longestCollection'],
  },
  {
    name: ECHO,
    load: { ...VOICE, mode: 'echo', rate: 20_000 },
    figures: ['p50', 'p99', 'loss'],
  },
  {
    name: FLOOD,
    load: { ...VOICE, mode: 'up', rate: 10_000, flood: 200_000 },
    subjects: [SUBJECTS.relay],
    figures: ['loss', 'cpuShare', 'collections', 'longestCollection'],
  },
];
