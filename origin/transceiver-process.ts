/**
 * Starts one transceiver alone, as each processor of a machine has one: `node
 * origin/transceiver-process.ts [CONFIG.json]`, or with the configuration in TRANSCEIVER_CONFIG, and which
 * of the machine it is in TRANSCEIVER_INDEX. With REDIS_URL relays learn there where it is, and it passes
 * on requests for sessions of others. SIGTERM drains it and then ends it; another one, or SIGINT, ends it
 * at once.
 */
import process from 'node:process';
import { pino } from 'pino';
import type { TrunkAddress } from '../protocol/footprint.ts';
import { parseRoutingKeys } from '../protocol/routing-keys.ts';
import { SignatureVerifier, parseSigningKeys } from '../protocol/signature.ts';
import { announceTransceiver } from './announcement.ts';
import { openBackend } from './backend/backends.ts';
import { ConfigError } from './config.ts';
import { listenForEnd } from './end-signals.ts';
import { serveHttp } from './http-server.ts';
import { helpIfAsked } from './process-help.ts';
import { GuardedRedis } from './redis/guarded-redis.ts';
import { RedisOwners } from './redis-owners.ts';
import { startRosterLink, type RosterLink } from './roster-link.ts';
import {
  TRANSCEIVER_CONFIG_VARIABLE,
  readTransceiverConfig,
  type TransceiverConfig,
} from './transceiver-config.ts';
import { REDIS_URL_VARIABLE, redisUrlOf } from './redis/redis-url.ts';
import { adminApp, type TransceiverState } from './transceiver/admin.ts';
import { TransceiverMetrics } from './transceiver/metrics.ts';
import { signalingApp } from './transceiver/signaling.ts';
import { startTransceiver, type Transceiver } from './transceiver/transceiver.ts';

/** Exit code of a process that was started wrongly. */
const EXIT_USAGE = 2;

const ANY_ADDRESS = new Set(['0.0.0.0', '::']);

const HELP = `Starts a transceiver. SIGTERM drains it and then ends it.

  node origin/transceiver-process.ts CONFIG.json    with the configuration in this file
  node origin/transceiver-process.ts                with its JSON in TRANSCEIVER_CONFIG
  node origin/transceiver-process.ts --help         print this

TRANSCEIVER_INDEX is which of the machine it is, from 0. With REDIS_URL relays learn where it is.
README.md, "Run transceivers", tells the rest.`;

let log = pino({ name: 'transceiver' });

// What was half done could leave state no one knows of: end, and let the supervisor start anew.
process.on('uncaughtException', (error) => die(error, 'uncaught exception'));
process.on('unhandledRejection', (reason) => die(reason, 'unhandled rejection'));

function die(error: unknown, what: string): never {
  log.fatal({ err: error }, `${what}; the transceiver ends`);
  process.exit(1);
}

/** Runs until a signal ends it. @throws Error when an address cannot be bound. */
async function run(config: TransceiverConfig, redisUrl: string | undefined): Promise<void> {
  await using opened = new AsyncDisposableStack();
  const ends = listenForEnd();
  let state: TransceiverState = 'starting';
  let transceiver: Transceiver | undefined;
  let link: RosterLink | undefined;
  const metrics = new TransceiverMetrics();
  const { backend } = config;
  const { routingKeys: _keys, signingKey: _key, ...rest } = config;
  // A back end of its own comes with a key.
  const shown = { ...rest, backend: typeof backend === 'string' ? backend : 'realtime' };
  const app = adminApp({
    state: () => state,
    refusal: () => link?.refusal,
    transceiver: () => transceiver,
    metrics,
    config: shown,
  });
  const admin = await serveHttp(app.fetch, config.admin, 'admin');
  opened.defer(() => admin.close());

  const voice = await openBackend(backend, log);
  opened.defer(() => voice.close());
  const { id, trunk, peers, capacity, limits } = config;
  const started = await startTransceiver({
    id,
    trunk,
    peers,
    capacity,
    limits,
    backend: voice.backend,
    observer: metrics,
    log,
  });
  opened.defer(() => started.close());
  transceiver = started;
  metrics.describe(started);

  const redis = redisUrl === undefined ? undefined : new GuardedRedis({ url: redisUrl, log });
  if (redis) opened.defer(() => redis.close());
  const signaling = await serveSignaling(config, started, redis);
  opened.defer(() => signaling.close());
  if (redis) opened.defer(announce(config, started, signaling.address, redis));
  const joining = startRosterLink({
    edge: config.edge,
    cluster: config.cluster,
    signingKey: parseSigningKeys(config.signingKey)[0],
    transceiver: id,
    report: () => started.report(),
    log,
  });
  opened.defer(() => joining.close());
  link = joining;
  state = 'ready';
  const addresses = { trunk: started.trunk, signaling: signaling.address, admin: admin.address };
  log.info(addresses, 'the transceiver is ready');

  await ends.asked;
  state = 'draining';
  log.info({ drain: config.drain, sessions: started.held.sessions }, 'the transceiver drains');
  const drained = started.drain(config.drain, ends.atOnce);
  joining.reportNow();
  log.info({ why: await drained }, 'the transceiver ends');
}

function serveSignaling(
  config: TransceiverConfig,
  transceiver: Transceiver,
  redis: GuardedRedis | undefined,
) {
  const { cluster, signingKey, routingKeys, signaling } = config;
  const app = signalingApp({
    verifier: new SignatureVerifier(parseSigningKeys(signingKey), cluster),
    transceivers: new Map([[transceiver.id, transceiver]]),
    owners: redis && new RedisOwners(redis, cluster, parseRoutingKeys(routingKeys)),
    log,
  });
  return serveHttp(app.fetch, signaling, 'signaling');
}

/** @returns Withdraws the announcement. */
function announce(
  { cluster, routingKeys }: TransceiverConfig,
  transceiver: Transceiver,
  { address, port }: TrunkAddress,
  redis: GuardedRedis,
): () => Promise<void> {
  const { id, trunk } = transceiver;
  const announcement = announceTransceiver({
    redis,
    cluster,
    routingKeys: parseRoutingKeys(routingKeys),
    transceiver: id,
    trunk,
    signaling: { address: ANY_ADDRESS.has(address) ? trunk.address : address, port },
    log,
  });
  return () => announcement.close();
}

helpIfAsked(HELP);
try {
  const config = await readTransceiverConfig(process.argv.slice(2), process.env);
  const redisUrl = redisUrlOf(process.env);
  // They hold keys, which nothing that this process may start has a use for.
  delete process.env[TRANSCEIVER_CONFIG_VARIABLE];
  delete process.env[REDIS_URL_VARIABLE];
  const { cluster, id, logLevel } = config;
  log = pino({ name: 'transceiver', level: logLevel, base: { cluster, transceiver: id } });
  await run(config, redisUrl);
  process.exit(0);
} catch (error) {
  if (!(error instanceof ConfigError)) die(error, 'the transceiver cannot start');
  console.error(error.message);
  process.exitCode = EXIT_USAGE;
}
