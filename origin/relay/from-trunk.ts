/** Frames from the trunk: up from another region's relay, or down to a client of this relay or another. */
import { ADDRESS_LENGTH, isMappedIPv4 } from '../../protocol/address.ts';
import {
  TRUNK_CLIENT,
  TRUNK_DOWN,
  TRUNK_HEADER_LENGTH,
  TRUNK_LISTENER,
  TRUNK_PASSED,
  TRUNK_PROXY,
  hasTrunkFrame,
  setTrunkFlags,
  trunkClientPort,
  trunkFlags,
  trunkFrameEnd,
  trunkProxyPort,
} from '../../protocol/trunk.ts';
import { sameAddress } from './bytes.ts';
import { FROM_TRUNK, TO_CLIENTS, TO_TRUNK, type Counters, type DropReason } from './counters.ts';
import type { PacketSink } from './io.ts';
import type { Networks } from '../networks.ts';
import type { Moment } from './moment.ts';
import type { Hop } from './next-hop.ts';
import type { PacketBatch } from './packet-batch.ts';
import type { UpRouter } from './up-router.ts';
import type { Uplink } from './uplink.ts';

export interface FromTrunkOptions {
  /** The relay's own trunk address. */
  readonly self: Hop;
  /** For each listener, whether its socket is of IPv4. */
  readonly ipv4Listeners: readonly boolean[];
  /** Who may send frames, and be sent replies. */
  readonly peers: Networks;
}

export class FromTrunk {
  readonly #self: Hop;
  readonly #ipv4Listeners: readonly boolean[];
  readonly #peers: Networks;
  readonly #router: UpRouter;
  readonly #uplink: Uplink;
  readonly #sink: PacketSink;
  readonly #counters: Counters;

  constructor(
    { self, ipv4Listeners, peers }: FromTrunkOptions,
    router: UpRouter,
    uplink: Uplink,
    sink: PacketSink,
    counters: Counters,
  ) {
    this.#self = self;
    this.#ipv4Listeners = ipv4Listeners;
    this.#peers = peers;
    this.#router = router;
    this.#uplink = uplink;
    this.#sink = sink;
    this.#counters = counters;
  }

  /** Handles packet `i`, a datagram with one or more frames. */
  handle(batch: PacketBatch, i: number, now: Moment): void {
    const { bytes } = batch;
    const end = batch.end[i]!;
    if (!this.#peers.has(batch.source, i * ADDRESS_LENGTH)) {
      this.#counters.drop('foreign-peer');
      return;
    }
    let at = batch.start[i]!;
    do {
      const next = trunkFrameEnd(bytes, at, end);
      if (next < 0) {
        this.#counters.drop('malformed-trunk');
        return;
      }
      const payload = at + TRUNK_HEADER_LENGTH;
      this.#counters.packet(FROM_TRUNK, next - payload, bytes[payload]!);
      const dropped =
        (trunkFlags(bytes, at) & TRUNK_DOWN) === 0
          ? this.#up(bytes, at, next, now)
          : this.#down(bytes, at, next, now);
      if (dropped) this.#counters.drop(dropped);
      at = next;
    } while (hasTrunkFrame(bytes, at, end));
  }

  #up(bytes: Uint8Array, at: number, end: number, now: Moment): DropReason | undefined {
    if ((trunkFlags(bytes, at) & TRUNK_PASSED) !== 0 || this.#isProxy(bytes, at)) return 'loop';
    if (trunkClientPort(bytes, at) === 0) return 'unusable-address';
    this.#uplink.send(bytes, at, end, true, now);
    return undefined;
  }

  /** Needs no flow: the header says where the client is. */
  #down(bytes: Uint8Array, at: number, end: number, now: Moment): DropReason | undefined {
    return this.#isProxy(bytes, at)
      ? this.#toClient(bytes, at, end, now)
      : this.#toProxy(bytes, at, end, now);
  }

  #toClient(bytes: Uint8Array, at: number, end: number, now: Moment): DropReason | undefined {
    const listener = bytes[at + TRUNK_LISTENER]!;
    const ipv4 = this.#ipv4Listeners[listener];
    if (ipv4 === undefined) return 'unknown-listener';
    const port = trunkClientPort(bytes, at);
    if (port === 0 || isMappedIPv4(bytes, at + TRUNK_CLIENT) !== ipv4) return 'unusable-address';
    this.#router.learn(bytes, at, end, now);
    const payload = at + TRUNK_HEADER_LENGTH;
    this.#counters.packet(TO_CLIENTS, end - payload, bytes[payload]!);
    this.#sink.sendPublic(listener, bytes, payload, end, bytes, at + TRUNK_CLIENT, port);
    return undefined;
  }

  #toProxy(bytes: Uint8Array, at: number, end: number, now: Moment): DropReason | undefined {
    if ((trunkFlags(bytes, at) & TRUNK_PASSED) !== 0) return 'loop';
    const port = trunkProxyPort(bytes, at);
    if (port === 0 || !this.#peers.has(bytes, at + TRUNK_PROXY)) return 'foreign-proxy';
    this.#router.learn(bytes, at, end, now);
    setTrunkFlags(bytes, at, TRUNK_DOWN | TRUNK_PASSED);
    const payload = at + TRUNK_HEADER_LENGTH;
    this.#counters.packet(TO_TRUNK, end - payload, bytes[payload]!);
    this.#sink.sendTrunk(bytes, at, end, bytes, at + TRUNK_PROXY, port);
    return undefined;
  }

  #isProxy(bytes: Uint8Array, at: number): boolean {
    return (
      trunkProxyPort(bytes, at) === this.#self.port &&
      sameAddress(bytes, at + TRUNK_PROXY, this.#self.address, 0)
    );
  }
}
