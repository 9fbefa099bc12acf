/**
 * Forwards packets in one thread. A packet's path: the I/O → from-client.ts or from-trunk.ts →
 * uplink.ts → up-router.ts → next-hop.ts → the I/O.
 */
import { isIP } from 'node:net';
import { isMappedIPv4, parseAddress } from '../../protocol/address.ts';
import type { ClusterRoute, TrunkAddress } from '../../protocol/footprint.ts';
import type { RoutingKey } from '../../protocol/routing-keys.ts';
import { UfragCodec } from '../../protocol/ufrag.ts';
import { LATENCY_SAMPLE, type Counters } from './counters.ts';
import type { FlowMemory } from './flow-memory.ts';
import { FlowTable } from './flow-table.ts';
import { FromClient } from './from-client.ts';
import { FromTrunk } from './from-trunk.ts';
import type { PacketSink } from './io.ts';
import { Networks } from '../networks.ts';
import { Clock } from './moment.ts';
import { NextHops, type Hop } from './next-hop.ts';
import { TRUNK_SOCKET, type PacketBatch } from './packet-batch.ts';
import { HeldPackets, type AskForFlows } from './recovery/held-packets.ts';
import { UpRouter } from './up-router.ts';
import { Uplink } from './uplink.ts';

/** Milliseconds. */
const SECOND = 1000;

/** What all threads of a relay have in common; it can be handed to each. */
export interface ForwarderSetup {
  readonly cluster: number;
  /** The addresses as bound. */
  readonly listeners: readonly TrunkAddress[];
  readonly trunk: TrunkAddress;
  readonly peers: readonly string[];
  readonly routes: readonly ClusterRoute[];
  readonly routingKeys: readonly [RoutingKey, ...RoutingKey[]];
  /** The table of all threads. */
  readonly flows: FlowMemory;
}

export class Forwarder {
  readonly #sink: PacketSink;
  readonly #hops: NextHops;
  readonly #fromClient: FromClient;
  readonly #fromTrunk: FromTrunk;
  readonly #uplink: Uplink;
  readonly #counters: Counters;
  readonly #clock = new Clock();
  #batches = 0;

  /**
   * @param ask Finds flows elsewhere, if they may be anywhere; {@link settle} is to follow each time.
   * @throws Error that names the route or network that cannot be used.
   */
  constructor(setup: ForwarderSetup, sink: PacketSink, counters: Counters, ask?: AskForFlows) {
    const { cluster, routes, routingKeys, trunk } = setup;
    const self = { address: parseAddress(trunk.address), port: trunk.port };
    const ipv4Listeners = setup.listeners.map(({ address }) => isIP(address) === 4);
    const peers = new Networks(setup.peers);
    this.#sink = sink;
    this.#counters = counters;
    this.#hops = new NextHops({ cluster, ipv4: isMappedIPv4(self.address), routes });
    const flows = new FlowTable(setup.flows);
    const router = new UpRouter(new UfragCodec(routingKeys), flows, this.#hops, counters);
    const held = ask && new HeldPackets(ask, setup.flows, counters);
    this.#uplink = new Uplink(router, sink, counters, held);
    this.#fromClient = new FromClient(self, this.#uplink, counters);
    const options = { self, ipv4Listeners, peers };
    this.#fromTrunk = new FromTrunk(options, router, this.#uplink, sink, counters);
  }

  /** Says where a transceiver is now; undefined when it is no more. */
  place(transceiver: number, hop: Hop | undefined): void {
    this.#hops.place(transceiver, hop);
  }

  /** Goes on with packets whose flows have been looked for. @param headers As they were asked for. */
  settle(headers: Uint8Array): void {
    this.#uplink.settle(headers, this.#clock.read());
    this.#sink.flush();
  }

  /** To be called as soon as the batch was received. */
  forward(batch: PacketBatch): void {
    const { count } = batch;
    this.#counters.batchPackets.observe(count, 1);
    if (++this.#batches % LATENCY_SAMPLE !== 0) {
      this.#forward(batch);
      return;
    }
    const received = performance.now();
    this.#forward(batch);
    this.#counters.forwardLatency.observe((performance.now() - received) / SECOND, count);
  }

  #forward(batch: PacketBatch): void {
    const now = this.#clock.read();
    for (let i = 0; i < batch.count; i++) {
      if (batch.socket[i] === TRUNK_SOCKET) this.#fromTrunk.handle(batch, i, now);
      else this.#fromClient.handle(batch, i, now);
    }
    this.#uplink.endBatch();
    this.#sink.flush();
  }
}
