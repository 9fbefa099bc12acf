/** What the relay must reach: ratios to its peers in one run, and limits of its own. */
import type { Measurement } from './measure.ts';
import { DOWN, ECHO, FLOOD, UP } from './scenarios.ts';
import { SUBJECTS } from './subjects.ts';

export interface Bar {
  readonly scenario: string;
  readonly figure: keyof Measurement;
  /** Without a peer the figure itself is held to the limit. */
  readonly peer?: string;
  readonly atMost?: number;
  readonly atLeast?: number;
}

export const BARS: readonly Bar[] = [
  { scenario: UP, figure: 'cpuPerPacket', peer: SUBJECTS.go, atMost: 0.55 },
  { scenario: UP, figure: 'cpuPerPacket', peer: SUBJECTS.c, atMost: 0.8 },
  { scenario: DOWN, figure: 'cpuPerPacket', peer: SUBJECTS.go, atMost: 0.8 },
  { scenario: DOWN, figure: 'cpuPerPacket', peer: SUBJECTS.c, atMost: 1.25 },
  { scenario: UP, figure: 'rate', peer: SUBJECTS.go, atLeast: 1.5 },
  { scenario: UP, figure: 'rate', peer: SUBJECTS.nginx, atLeast: 3 },
  { scenario: UP, figure: 'rate', peer: SUBJECTS.dgram, atLeast: 3 },
  { scenario: UP, figure: 'longestCollection', atMost: 1 },
  { scenario: DOWN, figure: 'longestCollection', atMost: 1 },
  { scenario: ECHO, figure: 'p50', peer: SUBJECTS.go, atMost: 1 },
  { scenario: ECHO, figure: 'p99', peer: SUBJECTS.go, atMost: 1 },
  { scenario: FLOOD, figure: 'loss', atMost: 0.001 },
  { scenario: FLOOD, figure: 'longestCollection', atMost: 1 },
  { scenario: FLOOD, figure: 'grownMB', atMost: 8 },
];

/** Of a scenario's rounds, the measurements by relay. */
export type Rounds = readonly ReadonlyMap<string, Measurement>[];

export interface Judgement {
  readonly bar: Bar;
  /** Undefined when the peer is not on this machine. */
  readonly value: number | undefined;
  readonly met: boolean;
}

/** The median over the rounds, each a ratio of what was measured one after the other. */
export function judge(bar: Bar, rounds: Rounds): Judgement {
  const values = rounds.flatMap((round) => {
    const own = round.get(SUBJECTS.relay)?.[bar.figure];
    const peer = bar.peer === undefined ? 1 : round.get(bar.peer)?.[bar.figure];
    return own === undefined || peer === undefined ? [] : [own / peer];
  });
  if (values.length === 0) return { bar, value: undefined, met: true };
  const value = median(values);
  const met = value <= (bar.atMost ?? Infinity) && value >= (bar.atLeast ?? -Infinity);
  return { bar, value, met };
}

/** Of an even number of values, the upper middle one. */
export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!;
}
