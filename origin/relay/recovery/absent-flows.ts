/** Flows that Redis does not have, remembered for a moment so that it is not asked again and again. */

/** Milliseconds: less than a client waits between two checks, which make a flow anyway. */
export const ABSENCE = 1_000;

export const MAX_ABSENT = 65_536;

export class AbsentFlows {
  readonly #limit: number;
  /** When the absence of a name is forgotten; in the order of that time. */
  readonly #until = new Map<string, number>();

  constructor(limit = MAX_ABSENT) {
    this.#limit = limit;
  }

  /** @param now Milliseconds of any clock that never goes back. */
  add(name: string, now: number): void {
    this.#until.delete(name);
    this.#until.set(name, now + ABSENCE);
    for (const [oldest, until] of this.#until) {
      if (until > now && this.#until.size <= this.#limit) break;
      this.#until.delete(oldest);
    }
  }

  has(name: string, now: number): boolean {
    const until = this.#until.get(name);
    return until !== undefined && until > now;
  }

  delete(name: string): void {
    this.#until.delete(name);
  }
}
