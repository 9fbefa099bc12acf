/** What a transceiver counts of its sessions, those that have ended included. */
import { END_REASONS, type EndReason } from './end-reason.ts';
import type { SessionDump, SessionState } from './session-dump.ts';

/** Why a session was not made. */
export const REFUSALS = ['capacity', 'draining', 'conflict', 'offer'] as const;
export type Refusal = (typeof REFUSALS)[number];

/** Plain JSON. All but `sessions` only ever grows. */
export interface TransceiverCounters {
  /** At this moment. */
  readonly sessions: Readonly<Record<Exclude<SessionState, 'ended'>, number>>;
  readonly created: number;
  readonly refused: Readonly<Record<Refusal, number>>;
  readonly ended: Readonly<Record<EndReason, number>>;
  /** Sums over all sessions; undefined before the first one. */
  readonly packets: SessionDump['counters'] | undefined;
}

export class TransceiverCounts {
  #created = 0;
  readonly #refused = zeros(REFUSALS);
  readonly #ended = zeros(END_REASONS);
  /** Of sessions that have ended. */
  #packets: SessionDump['counters'] | undefined;

  created(): void {
    this.#created++;
  }

  refused(why: Refusal): void {
    this.#refused[why]++;
  }

  ended(reason: EndReason, { counters }: SessionDump): void {
    this.#ended[reason]++;
    this.#packets = added(this.#packets, counters);
  }

  /** @param live The sessions that have not ended. */
  read(live: readonly SessionDump[]): TransceiverCounters {
    const sessions = { checking: 0, securing: 0, connected: 0 };
    let packets = this.#packets;
    for (const { state, counters } of live) {
      if (state !== 'ended') sessions[state]++;
      packets = added(packets, counters);
    }
    return {
      sessions,
      created: this.#created,
      refused: { ...this.#refused },
      ended: { ...this.#ended },
      packets,
    };
  }
}

function zeros<Name extends string>(names: readonly Name[]): Record<Name, number> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Object.fromEntries forgets the keys' type
  return Object.fromEntries(names.map((name) => [name, 0])) as Record<Name, number>;
}

/** Counts of one shape, added number by number; what only one of them has is kept. */
export function added<Counts>(total: Counts | undefined, more: Counts): Counts;
export function added(total: unknown, more: unknown): unknown {
  if (typeof more === 'number') return more + (typeof total === 'number' ? total : 0);
  if (typeof more !== 'object' || more === null) return total;
  const before: object = typeof total === 'object' && total !== null ? total : {};
  const sum = new Map<string, unknown>(Object.entries(before));
  for (const [name, value] of Object.entries(more)) sum.set(name, added(sum.get(name), value));
  return Object.fromEntries(sum);
}
