/**
 * Starts a relay alone: `node origin/relay-process.ts [CONFIG.json]`, or with the configuration in
 * RELAY_CONFIG. With REDIS_URL it learns its transceivers there and keeps its flows. SIGTERM drains it
 * and then ends it; another one, or SIGINT, ends it at once.
 */
import process from 'node:process';
import { setTimeout as delay } from 'node:timers/promises';
import { pino } from 'pino';
import { parseRoutingKeys } from '../protocol/routing-keys.ts';
import { ConfigError } from './config.ts';
import { MemoryDirectory, type TransceiverDirectory } from './directory.ts';
import { listenForEnd } from './end-signals.ts';
import { serveHttp } from './http-server.ts';
import { helpIfAsked } from './process-help.ts';
import { GuardedRedis } from './redis/guarded-redis.ts';
import { RedisDirectory } from './redis-directory.ts';
import { redisUrlOf } from './redis/redis-url.ts';
import { readRelayConfig, type RelayConfig } from './relay-config.ts';
import { adminApp, type RelayState } from './relay/admin.ts';
import { drained } from './relay/drain.ts';
import type { FlowMemory } from './relay/flow-memory.ts';
import { takeFlows } from './relay/hand-over.ts';
import { startRelay, type Relay } from './relay/relay.ts';

/** Exit code of a process that was started wrongly. */
const EXIT_USAGE = 2;

/**
 * Milliseconds without Redis after which to start anyway: packets that come before the transceivers are
 * known would be dropped.
 */
const ROSTER_WAIT = 1_000;

const HELP = `Starts a relay. SIGTERM drains it and then ends it.

  node origin/relay-process.ts CONFIG.json    with the configuration in this file
  node origin/relay-process.ts                with its JSON in RELAY_CONFIG
  node origin/relay-process.ts --help         print this

With REDIS_URL it learns its transceivers there and keeps its flows. docs/relay.md tells the rest.`;

let log = pino({ name: 'relay' });

// What was half done could leave state no one knows of: end, and let the supervisor start anew.
process.on('uncaughtException', (error) => die(error, 'uncaught exception'));
process.on('unhandledRejection', (reason) => die(reason, 'unhandled rejection'));

function die(error: unknown, what: string): never {
  log.fatal({ err: error }, `${what}; the relay ends`);
  process.exit(1);
}

/** Runs until a signal ends it. @throws Error when an address cannot be bound. */
async function run(config: RelayConfig, redisUrl: string | undefined): Promise<void> {
  await using opened = new AsyncDisposableStack();
  const ends = listenForEnd();
  const life: { state: RelayState; relay: Relay | undefined } = {
    state: 'starting',
    relay: undefined,
  };
  const { routingKeys: _, ...shown } = config;
  const app = adminApp({ relay: () => life.relay, state: () => life.state, config: shown });
  const admin = await serveHttp(app.fetch, config.admin, 'admin');
  opened.defer(() => admin.close());
  const routingKeys = parseRoutingKeys(config.routingKeys);
  const redis = redisUrl === undefined ? undefined : new GuardedRedis({ url: redisUrl, log });
  if (redis) opened.defer(() => redis.close());
  const transceivers = await openDirectory(config, redis, opened, ends.asked);
  if (!transceivers) return;
  const { cluster, peers, routes, threads, replaces } = config;
  let mayAnswer = replaces !== undefined;
  const inherit = async (flows: FlowMemory): Promise<void> => {
    if (replaces === undefined || !mayAnswer) return;
    // One that hangs is waited for once.
    mayAnswer = await takeFlowsOf(replaces, flows, routingKeys);
  };
  const relay = await startRelay({
    ...config.relay,
    cluster,
    peers,
    routes,
    routingKeys,
    transceivers,
    redis,
    threads,
    beside: replaces !== undefined,
    inherit,
    log: log.child({ cluster }),
  });
  opened.defer(() => relay.close());
  // Those that were proven while it took over.
  await inherit(relay.flows);

  life.relay = relay;
  life.state = 'ready';
  log.info({ admin: admin.address }, 'the relay is ready');

  await ends.asked;
  life.state = 'draining';
  relay.retire();
  log.info({ drain: config.drain }, 'the relay drains');
  const why = await drained({
    ...config.drain,
    counters: () => relay.counters(),
    signal: ends.atOnce,
  });
  log.info({ why }, 'the relay ends');
}

/** @returns Whether it gave them. */
async function takeFlowsOf(
  admin: string,
  flows: FlowMemory,
  routingKeys: ReturnType<typeof parseRoutingKeys>,
): Promise<boolean> {
  try {
    const taken = await takeFlows(admin, flows, routingKeys);
    log.info({ admin, taken }, 'took over flows');
    return true;
  } catch (error) {
    const what = 'Cannot take over all flows: clients’ checks will make the others anew';
    log.warn({ err: error, admin }, `${what}; see whether that process still serves`);
    return false;
  }
}

/** @returns Undefined when it is to end before it can take the place of another. */
async function openDirectory(
  { cluster, routingKeys, transceivers, replaces }: RelayConfig,
  redis: GuardedRedis | undefined,
  opened: AsyncDisposableStack,
  end: Promise<void>,
): Promise<TransceiverDirectory | undefined> {
  if (!redis) return listedDirectory(transceivers);
  const keys = parseRoutingKeys(routingKeys);
  const directory = new RedisDirectory({ redis, cluster, routingKeys: keys, log });
  opened.defer(() => directory.close());
  const first = firstTransceiver(directory).then(() => true);
  if ((await Promise.race([first, delay(ROSTER_WAIT, false)])) || replaces === undefined) {
    return directory;
  }
  log.warn(
    'Redis tells of no transceiver, so the other relay goes on until it does; look after Redis',
  );
  return (await Promise.race([first, end.then(() => false)])) ? directory : undefined;
}

/** Settles once the directory has any, for it learns all at once. */
async function firstTransceiver(directory: TransceiverDirectory): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const unwatch = directory.watch(() => resolve());
  await promise;
  unwatch();
}

function listedDirectory(transceivers: RelayConfig['transceivers']): MemoryDirectory {
  const directory = new MemoryDirectory();
  for (const { id, trunk } of transceivers) directory.add(id, trunk);
  return directory;
}

helpIfAsked(HELP);
try {
  const config = await readRelayConfig(process.argv.slice(2), process.env);
  const redisUrl = redisUrlOf(process.env);
  log = pino({ name: 'relay', level: config.logLevel });
  await run(config, redisUrl);
  process.exit(0);
} catch (error) {
  if (!(error instanceof ConfigError)) die(error, 'the relay cannot start');
  console.error(error.message);
  process.exitCode = EXIT_USAGE;
}
