/**
 * The relay: forwards datagrams between clients and transceivers, by the routed ufrag of connectivity
 * checks. It holds the routing keys and nothing else of a session, and never originates a packet.
 */
import { isIP } from 'node:net';
import type { Logger } from 'pino';
import type { ClusterRoute, TrunkAddress } from '../../protocol/footprint.ts';
import type { RoutingKey } from '../../protocol/routing-keys.ts';
import type { TransceiverDirectory } from '../directory.ts';
import type { GuardedRedis } from '../redis/guarded-redis.ts';
import { sumCounters, type RelayCounters } from './counters.ts';
import { openLocalPlane, type DataPlane, type UnboundSetup } from './data-plane.ts';
import { openDgramIo } from './dgram-io.ts';
import { FLOW_LIMITS, flowMemory, type FlowLimits, type FlowMemory } from './flow-memory.ts';
import { FlowTable } from './flow-table.ts';
import type { IoOptions, OpenIo } from './io.ts';
import { hasBatchedCalls } from './libc.ts';
import { steadyNow } from './moment.ts';
import { hopFamily, hopTo, type Hop } from './next-hop.ts';
import { FlowRecovery } from './recovery/flow-recovery.ts';
import { tcpIo } from './tcp-io.ts';
import { openThreads } from './threads.ts';

export type { RelayCounters } from './counters.ts';

export interface RelayOptions extends IoOptions {
  /** Id of the relay's own cluster. */
  readonly cluster: number;
  /**
   * Where clients send to: one address each, for a client must be answered from the one that it sent to
   * (RFC 8445 §7.2.5.2.1). Port 0 takes a free one.
   */
  readonly listeners: readonly TrunkAddress[];
  /** An address that peers can send to; it goes out in every frame, so it cannot be 0.0.0.0 or ::. */
  readonly trunk: TrunkAddress;
  /** Where clients without UDP connect to, and a trunk of the same family for what is theirs. */
  readonly tcp?: TcpAddresses | undefined;
  /** CIDRs whose trunk frames are accepted: transceivers and relays. */
  readonly peers: readonly string[];
  readonly routes: readonly ClusterRoute[];
  readonly routingKeys: readonly [RoutingKey, ...RoutingKey[]];
  readonly transceivers: TransceiverDirectory;
  /** Keeps flows for when they are lost. Stays the caller's, to be closed after the relay. */
  readonly redis?: GuardedRedis | undefined;
  readonly log: Logger;
  /** Of a relay opened beside another: fills the table with that one's flows before they come here. */
  readonly inherit?: ((flows: FlowMemory) => Promise<void>) | undefined;
  /** What differs from {@link FLOW_LIMITS}. */
  readonly limits?: Partial<FlowLimits>;
  /** `batched`, on threads of its own, unless told otherwise or where the system does not have it. */
  readonly io?: 'batched' | 'dgram' | undefined;
  /** Threads of the batched back end; 1 unless told otherwise. */
  readonly threads?: number;
}

/** ICE over TCP (RFC 6544). */
export interface TcpAddresses {
  readonly listeners: readonly TrunkAddress[];
  readonly trunk: TrunkAddress;
}

export interface Relay {
  /** The public addresses as bound, with their real ports. */
  readonly listeners: readonly TrunkAddress[];
  readonly trunk: TrunkAddress;
  readonly tcp: TcpAddresses | undefined;
  /** All flows, as {@link FlowTable} finds them. */
  readonly flows: FlowMemory;
  counters(): RelayCounters;
  /**
   * Takes no new TCP connections, and leaves the UDP addresses to the process that has taken them over;
   * all else goes on.
   */
  retire(): void;
  close(): Promise<void>;
}

/** Milliseconds between two looks for flows whose time is over. */
const EXPIRY_INTERVAL = 100;

/**
 * @param openIo What to forward over instead, on the calling thread.
 * @throws Error that says which address, route or network cannot be used, and what to do.
 */
export async function startRelay(options: RelayOptions, openIo?: OpenIo): Promise<Relay> {
  const { cluster, peers, routes, routingKeys, transceivers, redis, log, threads = 1 } = options;
  options.listeners.forEach(requireOneAddress);
  requireTrunk(options.trunk);
  if (options.tcp) requireTrunk(options.tcp.trunk, isIP(options.trunk.address));
  const flows = flowMemory({ ...FLOW_LIMITS, ...options.limits });
  const known = knownHops(transceivers, isIP(options.trunk.address) === 4);
  const setup = { cluster, peers, routes, routingKeys, flows, transceivers: known };
  const io = options.io ?? (hasBatchedCalls() ? 'batched' : 'dgram');
  if (options.beside && io === 'dgram') {
    throw new Error('Only Linux lets a relay open its ports beside another; end that one first.');
  }
  const recovery = redis && new FlowRecovery({ redis, routingKeys, flows });
  const planes = await openPlanes(recovery, async () => {
    const restore = recovery?.restore;
    const udp =
      openIo || io === 'dgram'
        ? await openLocalPlane(setup, options, openIo ?? openDgramIo, restore)
        : await openThreads(setup, options, threads, restore);
    return { udp, tcp: await openTcpPlane(setup, options, udp) };
  });
  const relay = new RunningRelay(planes, flows, recovery, transceivers, log);
  await options.inherit?.(flows);
  planes.udp.takeOver?.();
  const { listeners, trunk, tcp } = relay;
  log.info({ listeners, trunk, tcp, io, threads }, 'The relay forwards');
  return relay;
}

/** Threads forward from their first moment on, and must not drop what comes for these. */
function knownHops(directory: TransceiverDirectory, ipv4: boolean): Map<number, Hop> {
  const known = new Map<number, Hop>();
  const unwatch = directory.watch((transceiver, trunk) => {
    const hop = trunk && hopTo(trunk, ipv4);
    if (hop) known.set(transceiver, hop);
  });
  unwatch();
  return known;
}

interface Planes {
  readonly udp: DataPlane;
  readonly tcp: DataPlane | undefined;
}

async function openPlanes(
  recovery: FlowRecovery | undefined,
  open: () => Promise<Planes>,
): Promise<Planes> {
  try {
    return await open();
  } catch (error) {
    await recovery?.close();
    throw error;
  }
}

/**
 * Streams are not many: one thread, this one, forwards them beside its other work. Each begins with a
 * check, so their flows need not be found elsewhere.
 */
async function openTcpPlane(
  setup: UnboundSetup,
  { tcp, trunkMtu, beside }: RelayOptions,
  udp: DataPlane,
): Promise<DataPlane | undefined> {
  try {
    return tcp && (await openLocalPlane(setup, { ...tcp, trunkMtu, beside }, tcpIo()));
  } catch (error) {
    await udp.close();
    throw error;
  }
}

class RunningRelay implements Relay {
  readonly listeners: readonly TrunkAddress[];
  readonly trunk: TrunkAddress;
  readonly tcp: TcpAddresses | undefined;
  readonly flows: FlowMemory;
  readonly #planes: readonly DataPlane[];
  readonly #table: FlowTable;
  readonly #recovery: FlowRecovery | undefined;
  readonly #expiry: NodeJS.Timeout;
  readonly #unwatch: () => void;

  constructor(
    { udp, tcp }: Planes,
    flows: FlowMemory,
    recovery: FlowRecovery | undefined,
    transceivers: TransceiverDirectory,
    log: Logger,
  ) {
    this.listeners = udp.listeners;
    this.trunk = udp.trunk;
    this.tcp = tcp && { listeners: tcp.listeners, trunk: tcp.trunk };
    this.#planes = tcp ? [udp, tcp] : [udp];
    this.flows = flows;
    this.#table = new FlowTable(flows);
    this.#recovery = recovery;
    // Done here, so that no packet waits for it.
    this.#expiry = setInterval(() => this.#table.expire(steadyNow()), EXPIRY_INTERVAL).unref();
    const ipv4 = isIP(udp.trunk.address) === 4;
    this.#unwatch = transceivers.watch((transceiver, trunk) => {
      const hop = trunk && hopTo(trunk, ipv4);
      if (trunk && !hop) {
        const advice = `correct that transceiver, to ${hopFamily(ipv4)}`;
        log.error({ transceiver, trunk }, `The directory gives what cannot be sent to; ${advice}`);
      }
      for (const plane of this.#planes) plane.place(transceiver, hop);
    });
  }

  counters(): RelayCounters {
    this.#table.expire(steadyNow());
    const counters = this.#planes.flatMap((plane) => plane.counters);
    return { ...sumCounters(counters, this.#table), recovery: this.#recovery?.counters() };
  }

  retire(): void {
    for (const plane of this.#planes) plane.retire?.();
  }

  async close(): Promise<void> {
    clearInterval(this.#expiry);
    this.#unwatch();
    await Promise.all(this.#planes.map((plane) => plane.close()));
    await this.#recovery?.close();
  }
}

/** A socket of all addresses would answer from whichever the system's routes prefer. */
function requireOneAddress({ address }: TrunkAddress): void {
  if (isUnspecified(address)) {
    throw new Error(
      `A listener cannot be "${address}"; give one for each address that clients send to.`,
    );
  }
}

function isUnspecified(address: string): boolean {
  return /^[0:.]+$/.test(address);
}

/** @param family 4 or 6, where it must be that: hops of one kind serve both trunks. */
function requireTrunk({ address }: TrunkAddress, family = isIP(address)): void {
  if (isIP(address) === 0 || isUnspecified(address)) {
    throw new Error(`The trunk cannot be "${address}"; give an IP address that peers can send to.`);
  }
  if (isIP(address) !== family) {
    throw new Error(`The trunk of TCP cannot be "${address}"; give an IPv${family} address.`);
  }
}
