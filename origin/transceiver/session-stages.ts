/** When a session reached the stages of its setup. */

/** In the order in which an ordinary call reaches them. */
export const STAGES = [
  'firstStun',
  'ice',
  'dtls',
  'sctp',
  'firstRtpIn',
  'firstRtpOut',
  'firstBackendAudio',
] as const;
export type Stage = (typeof STAGES)[number];

/** Milliseconds from the offer to the first time each stage was reached. */
export type StageTimings = Partial<Record<Stage, number>>;

export class SessionStages {
  readonly #createdAt = performance.now();
  readonly #timings: StageTimings = {};
  readonly #onReach: (stage: Stage, milliseconds: number) => void;

  /** @param onReach Called once for each stage. */
  constructor(onReach: (stage: Stage, milliseconds: number) => void) {
    this.#onReach = onReach;
  }

  /** Milliseconds since the offer. */
  get age(): number {
    return performance.now() - this.#createdAt;
  }

  get timings(): StageTimings {
    return { ...this.#timings };
  }

  reach(stage: Stage): void {
    if (this.#timings[stage] !== undefined) return;
    const milliseconds = Math.round(this.age * 10) / 10;
    this.#timings[stage] = milliseconds;
    this.#onReach(stage, milliseconds);
  }
}
