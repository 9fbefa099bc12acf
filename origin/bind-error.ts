/** What to say when a socket cannot be bound. */

/** The system's code of an error, as EADDRINUSE; the error as text when it has none. */
export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : String(error);
}

/** @param code As {@link codeOf} has it. */
export function bindError(
  code: string,
  address: string,
  port: number,
  cause?: unknown,
  transport: 'UDP' | 'TCP' = 'UDP',
): Error {
  const advice =
    code === 'EADDRINUSE'
      ? 'another process has it; end that one or choose another port'
      : code === 'EADDRNOTAVAIL'
        ? 'this machine does not have the address; choose one that it has'
        : code === 'EACCES'
          ? 'this user may not bind it; choose a port from 1024 up'
          : code;
  return new Error(`Cannot bind ${transport} ${address} port ${port}: ${advice}.`, { cause });
}
