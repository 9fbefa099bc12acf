/**
 * Starts a one-box region: `node origin/region.ts [CONFIG.json]`, or with the configuration in
 * REGION_CONFIG. SIGTERM and SIGINT end it; a forked one also ends with its parent.
 */
import process from 'node:process';
import { pino } from 'pino';
import { ConfigError } from './config.ts';
import { startOneBox, type OneBox, type RegionAddresses } from './one-box.ts';
import { hasParent, runService } from './parent.ts';
import { helpIfAsked } from './process-help.ts';
import { readRegionConfig, REGION_CONFIG_VARIABLE } from './region-config.ts';
import { usedMemory } from './used-memory.ts';

/** Exit code of a process that was started wrongly. */
const EXIT_USAGE = 2;

const HELP = `Starts a region on one machine: a relay and transceivers. SIGTERM ends it.

  node origin/region.ts CONFIG.json    with the configuration in this file
  node origin/region.ts                with its JSON in REGION_CONFIG
  node origin/region.ts --help         print this

origin/region-config.ts says what belongs into it.`;

let log = pino({ name: 'region' });

// What was half done could leave state no one knows of: end, and let the supervisor start anew.
process.on('uncaughtException', (error) => die(error, 'uncaught exception'));
process.on('unhandledRejection', (reason) => die(reason, 'unhandled rejection'));

function die(error: unknown, what: string): never {
  log.fatal({ err: error }, `${what}; the region ends`);
  process.exit(1);
}

/** What a parent is told, and may ask. */
export interface RegionService {
  readonly ready: RegionAddresses;
  readonly answers: ReturnType<typeof answersOf>;
}

function answersOf(box: OneBox) {
  return {
    join: () => box.join(),
    relayCounters: () => box.relayCounters(),
    dump: () => box.dump(),
    memory: usedMemory,
    restartRelay: () => box.restartRelay(),
  };
}

helpIfAsked(HELP);
try {
  await runService(async () => {
    const config = await readRegionConfig(process.argv.slice(2), process.env);
    // It holds keys, which nothing that this process may start has a use for.
    delete process.env[REGION_CONFIG_VARIABLE];
    log = pino({ name: 'region', level: config.logLevel, base: { region: config.region } });
    const box = await startOneBox(config, log);
    // A parent says itself when the edge is there to be joined.
    if (!hasParent()) void box.join();
    log.info(box.addresses, 'the region is ready');
    return { ready: box.addresses, answers: answersOf(box), close: () => box.close() };
  });
} catch (error) {
  if (!(error instanceof ConfigError)) die(error, 'the region cannot start');
  console.error(error.message);
  process.exitCode = EXIT_USAGE;
  process.disconnect?.();
}
