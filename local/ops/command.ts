/** `npm run ops -- decode | trace | drops | probe`: what operators ask of a deployment. */
import process from 'node:process';
import { runOps } from './run.ts';

const interrupted = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => interrupted.abort());
}
// libwebrtc's threads would keep the process.
process.exit(
  await runOps(process.argv.slice(2), {
    env: process.env,
    output: console,
    signal: interrupted.signal,
  }),
);
