/** A whole region in one process: a relay, transceivers, their signaling and their roster links. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { TrunkAddress } from '../protocol/footprint.ts';
import { parseRoutingKeys } from '../protocol/routing-keys.ts';
import { parseSigningKeys, SignatureVerifier } from '../protocol/signature.ts';
import { openBackend } from './backend/backends.ts';
import { boxAdmin } from './one-box-admin.ts';
import { MemoryDirectory } from './directory.ts';
import { serveHttp } from './http-server.ts';
import { GuardedRedis } from './redis/guarded-redis.ts';
import type { RegionConfig } from './region-config.ts';
import { startRelay, type Relay, type RelayOptions, type TcpAddresses } from './relay/relay.ts';
import type { RelayCounters } from './relay/counters.ts';
import { startRosterLink, type RosterLink } from './roster-link.ts';
import { signalingApp } from './transceiver/signaling.ts';
import { TransceiverMetrics } from './transceiver/metrics.ts';
import { startTransceiver, type Transceiver } from './transceiver/transceiver.ts';

/** Milliseconds between two looks at whether the roster links stand. */
const JOIN_POLL = 20;

/** Where a region's parts listen, with the ports they really got. */
export interface RegionAddresses {
  readonly listeners: readonly TrunkAddress[];
  readonly trunk: TrunkAddress;
  readonly tcp: TcpAddresses | undefined;
  readonly signaling: TrunkAddress;
  readonly admin: TrunkAddress;
}

/** What the transceivers of a region hold, by transceiver id. */
export type RegionDump = Readonly<Record<string, ReturnType<Transceiver['dump']>>>;

export interface OneBox {
  readonly addresses: RegionAddresses;
  /** Joins the edge's roster; settles once every transceiver is in it, or the region closes. */
  join(): Promise<void>;
  /** @throws Error where the relay is a process of its own, as below. */
  relayCounters(): RelayCounters;
  dump(): RegionDump;
  /** Starts the relay anew on its ports: its flows and counters are gone. */
  restartRelay(): Promise<void>;
  close(): Promise<void>;
}

/** @throws Error when a port is taken; nothing stays open then. */
export async function startOneBox(config: RegionConfig, log: Logger): Promise<OneBox> {
  await using opened = new AsyncDisposableStack();
  const directory = new MemoryDirectory();
  const transceivers = new Map<number, Transceiver>();
  const metrics = new Map<number, TransceiverMetrics>();
  const voice = await openBackend(config.backend, log);
  opened.defer(() => voice.close());
  for (const { id, trunk, capacity } of config.transceivers) {
    const { peers, cluster } = config;
    const child = log.child({ tier: 'transceiver', cluster, transceiver: id });
    const observer = new TransceiverMetrics();
    const transceiver = await startTransceiver({
      id,
      trunk,
      peers,
      capacity,
      backend: voice.backend,
      observer,
      log: child,
    });
    opened.defer(() => transceiver.close());
    observer.describe(transceiver);
    metrics.set(id, observer);
    transceivers.set(id, transceiver);
    directory.add(id, transceiver.trunk);
  }

  const redis =
    config.redis === undefined ? undefined : new GuardedRedis({ url: config.redis, log });
  if (redis) opened.defer(() => redis.close());
  const shared = { transceivers: directory, redis };
  const isApart = config.relayAdmin !== undefined;
  let relay = isApart ? undefined : await startConfiguredRelay(config, config.relay, shared, log);
  opened.defer(() => relay?.close());

  const app = signalingApp({
    verifier: new SignatureVerifier(parseSigningKeys(config.signingKey), config.cluster),
    transceivers,
    log: log.child({ tier: 'signaling', cluster: config.cluster }),
  });
  const server = await serveHttp(app.fetch, config.signaling, 'signaling');
  opened.defer(() => server.close());
  const adminApp = boxAdmin({ config, relay: () => relay, transceivers, metrics });
  const admin = await serveHttp(adminApp.fetch, config.admin, 'admin');
  opened.defer(() => admin.close());

  const addresses = {
    listeners: relay?.listeners ?? config.relay.listeners,
    trunk: relay?.trunk ?? config.relay.trunk,
    tcp: relay?.tcp ?? config.relay.tcp,
    signaling: server.address,
    admin: admin.address,
  };
  const ownRelay = (): Relay => {
    if (!relay) throw new Error('The relay is a process of its own.');
    return relay;
  };
  const stack = opened.move();
  const closing = new AbortController();

  return {
    addresses,
    join: async () => {
      const links = [...transceivers.values()].map((transceiver) =>
        joinRoster(config, transceiver, log),
      );
      stack.defer(() => closeAll(links));
      while (!closing.signal.aborted && links.some((link) => !link.connected))
        await delay(JOIN_POLL);
    },
    relayCounters: () => ownRelay().counters(),
    dump: () => {
      const dump: Record<string, ReturnType<Transceiver['dump']>> = {};
      for (const [id, transceiver] of transceivers) dump[id] = transceiver.dump();
      return dump;
    },
    restartRelay: async () => {
      await ownRelay().close();
      relay = await startConfiguredRelay(config, addresses, shared, log);
    },
    close: () => {
      closing.abort();
      return stack.disposeAsync();
    },
  };
}

/**
 * @param at Where it listens: as configured at first, then on the ports it got.
 * @param shared What outlives it.
 */
function startConfiguredRelay(
  config: RegionConfig,
  at: RegionConfig['relay'] | RegionAddresses,
  shared: Pick<RelayOptions, 'transceivers' | 'redis'>,
  log: Logger,
): Promise<Relay> {
  const { cluster, peers, routes } = config;
  return startRelay({
    cluster,
    listeners: at.listeners,
    trunk: at.trunk,
    tcp: at.tcp,
    peers,
    routes,
    routingKeys: parseRoutingKeys(config.routingKeys),
    ...shared,
    log: log.child({ tier: 'relay', cluster }),
  });
}

function joinRoster(config: RegionConfig, transceiver: Transceiver, log: Logger): RosterLink {
  const { edge, cluster } = config;
  return startRosterLink({
    edge,
    cluster,
    signingKey: parseSigningKeys(config.signingKey)[0],
    transceiver: transceiver.id,
    report: () => transceiver.report(),
    log: log.child({ tier: 'roster-link', cluster, transceiver: transceiver.id }),
  });
}

async function closeAll(links: readonly RosterLink[]): Promise<void> {
  await Promise.all(links.map((link) => link.close()));
}
