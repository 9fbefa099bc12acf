/** The help of the processes that supervisors start. */
import process from 'node:process';

/** Prints it and ends the process, when that is all that is asked for. */
export function helpIfAsked(help: string): void {
  const asks = process.argv.slice(2).some((argument) => ['--help', '-h'].includes(argument));
  if (!asks) return;
  console.log(help);
  process.exit(0);
}
