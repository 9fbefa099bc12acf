/** A small service for tests of {@link startChild}; SERVICE_DOES says how it behaves. */
import { spawn } from 'node:child_process';
import process from 'node:process';
import { runService } from '../../origin/parent.ts';

const { SERVICE_DOES } = process.env;

export interface TestService {
  readonly ready: { readonly pid: number };
  readonly answers: ReturnType<typeof answers>;
}

function answers() {
  return {
    say: (text: string) => console.log(text),
    /** Starts a process that outlives this one, and gives its id. */
    beget: () => spawn('sleep', ['60']).pid!,
    double: (number: number) => number * 2,
    fail: () => {
      throw new Error('it would not');
    },
    vanish: () => process.exit(7),
    never: () => new Promise<void>(() => undefined),
  };
}

// Keeps the process alive as a server would.
setInterval(() => undefined, 60_000);

if (SERVICE_DOES === 'die') process.exit(3);
try {
  await runService(async () => {
    if (SERVICE_DOES === 'fail') throw new Error('the port is taken');
    const close =
      SERVICE_DOES === 'hang' ? () => new Promise<void>(() => undefined) : async () => undefined;
    return { ready: { pid: process.pid }, answers: answers(), close };
  });
} catch {
  process.exit(1);
}
