/** What a process of callers is told. */
import type { Place } from '../../local/place.ts';

/** The environment variable that holds {@link CallersOptions} as JSON. */
export const CALLERS_VARIABLE = 'LOAD_CALLERS';

export interface CallersOptions {
  /** Base URL of the edge. */
  readonly edge: string;
  /** Callers stand there in turn. */
  readonly places: readonly Place[];
  /** Tells processes apart whose callers must not share addresses: 1 to 200. */
  readonly id: number;
  /** API keys, which they have in turn. */
  readonly keys: readonly string[];
}
