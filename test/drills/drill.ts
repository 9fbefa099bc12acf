/** What a drill is, and what comes of one. */
import type { Stage } from './stage.ts';

/** What was measured while the fault lasted and after it. */
export interface Figures {
  /** Calls that were up before the fault, or were asked for in it. */
  readonly calls: number;
  /** Those of them that never came back, or did not start. */
  readonly lost: number;
  /** Milliseconds of the longest time without audio in any call that should have had it. */
  readonly gap?: number;
  /** Milliseconds from the end of the fault until all was as before. */
  readonly recovery?: number;
  /** Whatever else is worth a few words. */
  readonly note?: string;
}

/** One file `NAME.drill.ts` exports one, as `drill`. */
export interface Drill {
  /** As its file is called. */
  readonly name: string;
  /** What must hold, in words of users. */
  readonly holds: string;
  /** What does not hold goes to {@link Stage.must}; a throw is a failure too. */
  readonly run: (stage: Stage) => Promise<Figures>;
}

export interface DrillResult {
  readonly name: string;
  readonly holds: string;
  /** What did not hold, in words; none when all is well. */
  readonly misses: readonly string[];
  /** Undefined when it broke off. */
  readonly figures: Figures | undefined;
  readonly seconds: number;
}
