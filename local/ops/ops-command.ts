/** What every command for operators is given, and ends with. */

/**
 * Exit codes, in the order that monitors know them by: all is well; it works and not as it should; it does not
 * work; nothing can be said, for the command line, a key or a file does not do.
 */
export const EXIT = { ok: 0, degraded: 1, down: 2, unknown: 3 } as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

export interface OpsContext {
  /** Of the process: where secrets are. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly output: { log(line: string): void; error(line: string): void };
  /** Ends what goes on until it is told to end. */
  readonly signal: AbortSignal;
}

export interface OpsCommand {
  readonly help: string;
  /**
   * @param args What follows the command's name.
   * @throws OptionsError when they do not fit, or a secret is missing.
   */
  run(args: readonly string[], context: OpsContext): Promise<ExitCode>;
}
