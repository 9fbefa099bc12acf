/** How an operator ends an origin process: SIGTERM drains it, SIGINT or a second signal ends it at once. */
import process from 'node:process';

export interface EndSignals {
  /** Settles with the first signal. */
  readonly asked: Promise<void>;
  /** Aborted when the process is to end without draining. */
  readonly atOnce: AbortSignal;
}

export function listenForEnd(): EndSignals {
  const { promise: asked, resolve } = Promise.withResolvers<void>();
  const abort = new AbortController();
  let signals = 0;
  const on = (signal: NodeJS.Signals): void => {
    signals++;
    if (signals > 1 || signal === 'SIGINT') abort.abort();
    resolve();
  };
  process.on('SIGTERM', on);
  process.on('SIGINT', on);
  return { asked, atOnce: abort.signal };
}
