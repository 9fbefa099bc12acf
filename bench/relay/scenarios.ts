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
 * More than any of them can take: a relay that always finds packets waiting shows what a packet costs it,
 * not how its sleep and the load's pauses meet. Bursts make the load fast enough for that; what a relay
 * cannot take is lost before it, at no cost to it.
 */
const SATURATED = { ...VOICE, rate: 0, burst: 8 };

/** What 1000 callers send. */
const VOICE_RATE = 50_000;

const OWN = [SUBJECTS.relay, SUBJECTS.single, SUBJECTS.threads, SUBJECTS.dgram];

export const UP = 'client → transceiver, saturated';
export const DOWN = 'transceiver → client, saturated';
export const ECHO = 'there and back at 20 kpps';
export const FLOOD = '10 kpps beside 200 kpps of forged checks';

export const SCENARIOS: readonly Scenario[] = [
  {
    name: UP,
    load: { ...SATURATED, mode: 'up' },
    figures: ['cpuPerPacket', 'rate', 'cpuShare', 'collections', 'longestCollection'],
  },
  {
    name: DOWN,
    load: { ...SATURATED, mode: 'down' },
    subjects: [...OWN, SUBJECTS.c, SUBJECTS.go],
    figures: ['cpuPerPacket', 'rate', 'cpuShare', 'collections', 'longestCollection'],
  },
  {
    name: 'client → transceiver, 1000 voices',
    load: { ...VOICE, mode: 'up', rate: VOICE_RATE },
    figures: ['cpuPerPacket', 'loss'],
  },
  {
    name: 'transceiver → client, 1000 voices, frames joined',
    load: { ...VOICE, mode: 'down', rate: VOICE_RATE, join: 1452 },
    subjects: OWN,
    figures: ['cpuPerPacket', 'loss'],
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
    figures: ['loss', 'cpuShare', 'collections', 'longestCollection', 'grownMB'],
  },
];
