/** From a token's route to the next address on the trunk: a transceiver here, or a relay elsewhere. */
import { isIP } from 'node:net';
import { isMappedIPv4, parseAddress } from '../../protocol/address.ts';
import type { ClusterRoute, TrunkAddress } from '../../protocol/footprint.ts';
import type { Route } from '../../protocol/ufrag.ts';
import type { DropReason } from './counters.ts';
import { spreadOf } from './flow-key.ts';

/** An address on the trunk, ready to send to. */
export interface Hop {
  /** 16 bytes. */
  readonly address: Uint8Array;
  readonly port: number;
}

/** Undefined when nothing can be sent there from a trunk of that family. */
export function hopTo({ address, port }: TrunkAddress, ipv4: boolean): Hop | undefined {
  if (isIP(address) === 0 || port === 0) return undefined;
  const bytes = parseAddress(address);
  return isMappedIPv4(bytes) === ipv4 ? { address: bytes, port } : undefined;
}

/** What a trunk of that family needs of an address. */
export function hopFamily(ipv4: boolean): string {
  return `a port and an IPv${ipv4 ? 4 : 6} address as the trunk has it`;
}

export interface NextHopOptions {
  /** The relay's own cluster. */
  readonly cluster: number;
  /** Whether the trunk is of IPv4; all hops are of its family. */
  readonly ipv4: boolean;
  readonly routes: readonly ClusterRoute[];
}

export class NextHops {
  readonly #cluster: number;
  readonly #relays: ReadonlyMap<number, readonly Hop[]>;
  readonly #transceivers = new Map<number, Hop>();

  /** @throws Error that names the route whose address cannot be used. */
  constructor({ cluster, ipv4, routes }: NextHopOptions) {
    this.#cluster = cluster;
    this.#relays = new Map(
      routes.map((route) => [
        route.cluster,
        route.relays.map((relay) => relayHop(route, relay, ipv4)),
      ]),
    );
  }

  /** Says where a transceiver is now; undefined when it is no more. */
  place(transceiver: number, hop: Hop | undefined): void {
    if (hop) this.#transceivers.set(transceiver, hop);
    else this.#transceivers.delete(transceiver);
  }

  /**
   * @param header Holds the trunk header of the client's packets at `at`.
   * @param fromPeer The packet has crossed between regions and must not do so again.
   */
  next(
    route: Pick<Route, 'cluster' | 'transceiver'>,
    header: Uint8Array,
    at: number,
    fromPeer: boolean,
  ): Hop | DropReason {
    if (route.cluster === this.#cluster) {
      return this.#transceivers.get(route.transceiver) ?? 'unknown-transceiver';
    }
    if (fromPeer) return 'wrong-cluster';
    const relays = this.#relays.get(route.cluster);
    // All packets of a client take one relay, for that one learns the client's flow.
    return relays?.[spreadOf(header, at) % relays.length] ?? 'unknown-cluster';
  }
}

function relayHop({ region }: ClusterRoute, relay: TrunkAddress, ipv4: boolean): Hop {
  const hop = hopTo(relay, ipv4);
  if (hop) return hop;
  const address = `${relay.address} port ${relay.port}`;
  throw new Error(`The route to ${region} has ${address}, which is not ${hopFamily(ipv4)}.`);
}
