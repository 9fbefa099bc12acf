/** The headers that tell a client what was done for its call, and how long it took. */
import type { SteeringBasis } from './anchor.ts';

/** Times stages of a request for Server-Timing (W3C). Equal names add up. */
export class StageTimings {
  readonly #durations: Record<string, number> = {};

  /** Milliseconds of each stage that was reached, to a tenth. */
  get durations(): Readonly<Record<string, number>> {
    const rounded: Record<string, number> = {};
    for (const stage in this.#durations)
      rounded[stage] = Math.round(this.#durations[stage]! * 10) / 10;
    return rounded;
  }

  /** @param duration Milliseconds. */
  add(stage: string, duration: number): void {
    this.#durations[stage] = (this.#durations[stage] ?? 0) + duration;
  }

  async measure<T>(stage: string, work: () => T | Promise<T>): Promise<T> {
    const start = performance.now();
    try {
      return await work();
    } finally {
      this.add(stage, performance.now() - start);
    }
  }

  toString(): string {
    return Object.entries(this.#durations)
      .map(([name, ms]) => `${name};dur=${ms.toFixed(1)}`)
      .join(', ');
  }
}

/** What is known so far of a call that is being placed. */
export interface PlacingRecord {
  readonly timings: StageTimings;
  /** Once it was steered. */
  basis?: SteeringBasis;
  /** Once it was placed. */
  path?: RelayPath;
}

/** What Relay-Path tells: by which colo, cluster and relays a call goes. */
export interface RelayPath {
  readonly colo: string | undefined;
  /** Region of the session's cluster. */
  readonly cluster: string;
  /** Region of the relays in the answer. */
  readonly ingress: string;
  readonly transceiver: number;
}

/** A dictionary of strings and one integer (RFC 9651 §3.2). */
export function relayPath({ colo, cluster, ingress, transceiver }: RelayPath): string {
  const known = typeof colo === 'string' && /^[A-Z]{3}$/.test(colo);
  return [
    ...(known ? [`colo="${colo}"`] : []),
    `cluster="${cluster}"`,
    `ingress="${ingress}"`,
    `transceiver=${transceiver}`,
  ].join(', ');
}
