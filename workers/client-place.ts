/** What steering is told of a client. */

/** What is known of where a client is, as `request.cf` spells it. Any of it may be missing or wrong. */
export interface Place {
  readonly colo?: string | undefined;
  /** Degrees as decimal text. */
  readonly latitude?: string | undefined;
  readonly longitude?: string | undefined;
  /** ISO 3166-1 alpha-2, or `T1` for Tor and `XX` for unknown. */
  readonly country?: string | undefined;
  readonly continent?: string | undefined;
  /** Milliseconds of a round trip between client and colo. */
  readonly rtt?: number | undefined;
}
