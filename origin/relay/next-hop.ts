/** From a token's route to the next address on the trunk: a transceiver here, or a relay elsewhere. */
import { isIP } from 'node:net';
import type { Logger } from 'pino';
import { isMappedIPv4, parseAddress } from '../../protocol/address.ts';
import type { ClusterRoute, TrunkAddress } from '../../protocol/footprint.ts';
import type { Route } from '../../protocol/ufrag.ts';
import type { TransceiverDirectory } from '../directory.ts';
import type { DropReason } from './counters.ts';
import { spreadOf } from './flow-key.ts';

/** An address on the trunk, ready to send to. */
export interface Hop {
  /** 16 bytes. */
  readonly address: Uint8Array;
  readonly port: number;
}

export interface NextHopOptions {
  /** The relay's own cluster. */
  readonly cluster: number;
  /** The relay's own trunk address; all hops are of its family. */
  readonly trunk: Hop;
  readonly routes: readonly ClusterRoute[];
  readonly transceivers: TransceiverDirectory;
  readonly log: Logger;
}

export class NextHops {
  readonly #cluster: number;
  readonly #ipv4: boolean;
  readonly #relays: ReadonlyMap<number, readonly Hop[]>;
  readonly #transceivers: TransceiverDirectory;
  readonly #log: Logger;
  /** Undefined for an entry that cannot be used. */
  readonly #known = new WeakMap<TrunkAddress, Hop | undefined>();

  /** @throws Error that names the route whose address cannot be used. */
  constructor({ cluster, trunk, routes, transceivers, log }: NextHopOptions) {
    this.#cluster = cluster;
    this.#ipv4 = isMappedIPv4(trunk.address);
    this.#transceivers = transceivers;
    this.#log = log;
    this.#relays = new Map(
      routes.map((route) => [
        route.cluster,
        route.relays.map((relay) => this.#relayHop(route, relay)),
      ]),
    );
  }

  /**
   * @param header Holds the trunk header of the client's packets at `at`.
   * @param fromPeer The packet has crossed between regions and must not do so again.
   */
  next(route: Route, header: Uint8Array, at: number, fromPeer: boolean): Hop | DropReason {
    if (route.cluster === this.#cluster) return this.#transceiverHop(route.transceiver);
    if (fromPeer) return 'wrong-cluster';
    const relays = this.#relays.get(route.cluster);
    // All packets of a client take one relay, for that one learns the client's flow.
    return relays?.[spreadOf(header, at) % relays.length] ?? 'unknown-cluster';
  }

  #transceiverHop(transceiver: number): Hop | DropReason {
    const trunk = this.#transceivers.trunkOf(transceiver);
    if (!trunk) return 'unknown-transceiver';
    let hop = this.#known.get(trunk);
    if (!hop && !this.#known.has(trunk)) {
      hop = this.#hop(trunk);
      this.#known.set(trunk, hop);
      if (!hop) {
        this.#log.error(
          { transceiver, trunk },
          `The directory gives an address that is not ${this.#family}; correct that transceiver`,
        );
      }
    }
    return hop ?? 'unknown-transceiver';
  }

  #relayHop({ region }: ClusterRoute, relay: TrunkAddress): Hop {
    const hop = this.#hop(relay);
    if (hop) return hop;
    const address = `${relay.address} port ${relay.port}`;
    throw new Error(`The route to ${region} has ${address}, which is not ${this.#family}.`);
  }

  #hop({ address, port }: TrunkAddress): Hop | undefined {
    if (isIP(address) === 0 || port === 0) return undefined;
    const bytes = parseAddress(address);
    return isMappedIPv4(bytes) === this.#ipv4 ? { address: bytes, port } : undefined;
  }

  get #family(): string {
    return `a port and an IPv${this.#ipv4 ? 4 : 6} address as the trunk has it`;
  }
}
