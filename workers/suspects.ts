/** Clusters that lately failed a call, as this isolate saw it: passive ejection. */
import type { CreateOutcome } from './forward.ts';

/** Milliseconds for which a cluster that failed is tried only after all others. */
export const SUSPECT_FOR = 10_000;

const FAILURES: ReadonlySet<CreateOutcome['outcome']> = new Set([
  'timeout',
  'unreachable',
  'lost',
  'bad-answer',
]);

export class Suspects {
  readonly #until = new Map<number, number>();

  has(cluster: number): boolean {
    return (this.#until.get(cluster) ?? 0) > Date.now();
  }

  /** A cluster that answers as it should is trusted again, even if it answers that it is full. */
  note(cluster: number, outcome: CreateOutcome['outcome']): void {
    if (FAILURES.has(outcome)) this.#until.set(cluster, Date.now() + SUSPECT_FOR);
    else this.#until.delete(cluster);
  }
}

/** Of this isolate. */
export const suspects = new Suspects();
