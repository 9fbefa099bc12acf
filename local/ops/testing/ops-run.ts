/** Runs a command for operators in this process, and keeps what it says. */
import type { ExitCode, OpsContext } from '../ops-command.ts';
import { runOps } from '../run.ts';

export interface OpsRun {
  readonly code: ExitCode;
  readonly stdout: string;
  readonly stderr: string;
}

export async function opsRun(
  args: readonly string[],
  env: OpsContext['env'] = {},
  signal: AbortSignal = new AbortController().signal,
  onLine: (line: string) => void = () => {},
): Promise<OpsRun> {
  const lines = { log: [] as string[], error: [] as string[] };
  const output = {
    log: (line: string) => {
      lines.log.push(line);
      onLine(line);
    },
    error: (line: string) => void lines.error.push(line),
  };
  const code = await runOps(args, { env, output, signal });
  return { code, stdout: lines.log.join('\n'), stderr: lines.error.join('\n') };
}
