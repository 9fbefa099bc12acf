/** The message of an error and those of its causes, outermost first; for people. */
export function reasonsOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.cause === undefined) return error.message;
  const cause = reasonsOf(error.cause);
  // Some errors already say what their cause says.
  return error.message.includes(cause) ? error.message : `${error.message}: ${cause}`;
}
