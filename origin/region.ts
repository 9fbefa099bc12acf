/**
 * Starts a one-box region: `node origin/region.ts [CONFIG.json]`, or with the configuration in
 * REGION_CONFIG. SIGTERM and SIGINT end it; a forked one also ends with its parent.
 */
import process from 'node:process';
import { pino } from 'pino';
import { startOneBox } from './one-box.ts';
import { readRegionConfig, RegionConfigError } from './region-config.ts';
import { parentOf, reasonOf, serveParent } from './region-control.ts';

/** Exit code of a process that was started wrongly. */
const EXIT_USAGE = 2;

const parent = parentOf(process);
let log = pino({ name: 'region' });

// A session that was lost here could leave state no one knows of: end, and let the supervisor start anew.
process.on('uncaughtException', (error) => die(error, 'uncaught exception'));
process.on('unhandledRejection', (reason) => die(reason, 'unhandled rejection'));

function die(error: unknown, what: string): never {
  log.fatal({ err: error }, `${what}; the region ends`);
  process.exit(1);
}

async function main(): Promise<void> {
  const config = await readRegionConfig(process.argv.slice(2), process.env);
  log = pino({ name: 'region', level: config.logLevel, base: { region: config.region } });
  const box = await startOneBox(config, log);
  let ending = false;
  const end = (why: string) => {
    if (ending) return;
    ending = true;
    log.info({ why }, 'the region ends');
    box.close().then(
      () => process.exit(0),
      (error: unknown) => die(error, 'the region could not be closed'),
    );
  };
  process.once('SIGTERM', () => end('SIGTERM'));
  process.once('SIGINT', () => end('SIGINT'));
  process.once('disconnect', () => end('the parent is gone'));
  if (parent) {
    serveParent(process, parent, box);
    if (!process.connected) end('the parent is gone');
  } else {
    // A parent says itself when the edge is there to be joined.
    void box.join();
  }
  log.info(box.addresses, 'the region is ready');
  parent?.send({ kind: 'ready', addresses: box.addresses });
}

try {
  await main();
} catch (error) {
  parent?.send({ kind: 'failed', reason: reasonOf(error) });
  if (error instanceof RegionConfigError) console.error(error.message);
  else log.fatal({ err: error }, 'the region cannot start');
  process.exitCode = error instanceof RegionConfigError ? EXIT_USAGE : 1;
  process.disconnect?.();
}
