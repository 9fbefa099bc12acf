/**
 * The relay: forwards datagrams between clients and transceivers, by the routed ufrag of connectivity
 * checks. It holds the routing keys and nothing else of a session, and never originates a packet.
 *
 * A packet's path: io.ts → from-client.ts or from-trunk.ts → up-router.ts → next-hop.ts → io.ts.
 */
import { isIP } from 'node:net';
import type { Logger } from 'pino';
import { parseAddress } from '../../protocol/address.ts';
import type { ClusterRoute, TrunkAddress } from '../../protocol/footprint.ts';
import type { RoutingKey } from '../../protocol/routing-keys.ts';
import { UfragCodec } from '../../protocol/ufrag.ts';
import type { TransceiverDirectory } from '../directory.ts';
import { newCounters, type RelayCounters } from './counters.ts';
import { openDgramIo } from './dgram-io.ts';
import { FLOW_LIMITS, FlowTable, type FlowLimits } from './flow-table.ts';
import { FromClient } from './from-client.ts';
import { FromTrunk } from './from-trunk.ts';
import type { OpenIo, RelayIo } from './io.ts';
import { Networks } from '../networks.ts';
import { NextHops } from './next-hop.ts';
import { TRUNK_SOCKET, type PacketBatch } from './packet-batch.ts';
import { UpRouter } from './up-router.ts';

export type { RelayCounters } from './counters.ts';

export interface RelayOptions {
  /** Id of the relay's own cluster. */
  readonly cluster: number;
  /** Where clients send to. Port 0 takes a free one. */
  readonly listeners: readonly TrunkAddress[];
  /** An address that peers can send to; it goes out in every frame, so it cannot be 0.0.0.0 or ::. */
  readonly trunk: TrunkAddress;
  /** CIDRs whose trunk frames are accepted: transceivers and relays. */
  readonly peers: readonly string[];
  readonly routes: readonly ClusterRoute[];
  readonly routingKeys: readonly [RoutingKey, ...RoutingKey[]];
  readonly transceivers: TransceiverDirectory;
  readonly log: Logger;
  /** What differs from {@link FLOW_LIMITS}. */
  readonly limits?: Partial<FlowLimits>;
}

export interface Relay {
  /** The public addresses as bound, with their real ports. */
  readonly listeners: readonly TrunkAddress[];
  readonly trunk: TrunkAddress;
  counters(): RelayCounters;
  close(): Promise<void>;
}

/** @throws Error that says which address, route or network cannot be used, and what to do. */
export async function startRelay(
  options: RelayOptions,
  openIo: OpenIo = openDgramIo,
): Promise<Relay> {
  requireTrunk(options.trunk);
  const peers = new Networks(options.peers);
  const io = await openIo(options);
  try {
    return new PacketRelay(options, io, peers);
  } catch (error) {
    await io.close();
    throw error;
  }
}

class PacketRelay implements Relay {
  readonly listeners: readonly TrunkAddress[];
  readonly trunk: TrunkAddress;
  readonly #io: RelayIo;
  readonly #flows: FlowTable;
  readonly #router: UpRouter;
  readonly #fromClient: FromClient;
  readonly #fromTrunk: FromTrunk;
  readonly #counters = newCounters();

  constructor(options: RelayOptions, io: RelayIo, peers: Networks) {
    const { cluster, routes, routingKeys, transceivers, log } = options;
    const self = { address: parseAddress(io.trunk.address), port: io.trunk.port };
    const ipv4Listeners = io.listeners.map(({ address }) => isIP(address) === 4);
    const hops = new NextHops({ cluster, trunk: self, routes, transceivers, log });
    this.listeners = io.listeners;
    this.trunk = io.trunk;
    this.#io = io;
    this.#flows = new FlowTable({ ...FLOW_LIMITS, ...options.limits });
    this.#router = new UpRouter(new UfragCodec(routingKeys), this.#flows, hops);
    this.#fromClient = new FromClient(self, this.#router, io, this.#counters);
    this.#fromTrunk = new FromTrunk(
      { self, ipv4Listeners, peers },
      this.#router,
      io,
      this.#counters,
    );
    io.start((batch) => this.#forward(batch));
    log.info({ cluster, listeners: this.listeners, trunk: this.trunk }, 'The relay forwards');
  }

  counters(): RelayCounters {
    this.#flows.expire(Date.now());
    const { oversized, sendErrors } = this.#io.stats();
    const counters = structuredClone(this.#counters);
    counters.drops.oversized = oversized;
    counters.sendErrors = sendErrors;
    counters.flows.tentative = this.#flows.tentative;
    counters.flows.proven = this.#flows.proven;
    counters.expiredFlows = this.#flows.expired;
    counters.evictedFlows = this.#flows.evicted;
    counters.repointings = this.#router.repointings;
    return counters;
  }

  async close(): Promise<void> {
    await this.#io.close();
  }

  #forward(batch: PacketBatch): void {
    // A step of the clock costs flows at worst, and those come back by themselves.
    const now = Date.now();
    this.#flows.expire(now);
    for (let i = 0; i < batch.count; i++) {
      if (batch.socket[i] === TRUNK_SOCKET) this.#fromTrunk.handle(batch, i, now);
      else this.#fromClient.handle(batch, i, now);
    }
    this.#io.flush();
  }
}

function requireTrunk({ address }: TrunkAddress): void {
  if (isIP(address) === 0 || /^[0:.]+$/.test(address)) {
    throw new Error(`The trunk cannot be "${address}"; give an IP address that peers can send to.`);
  }
}
