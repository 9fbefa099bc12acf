/**
 * The way up for packets of clients, whether they came here or to another region's relay: to where the
 * router says. Those without a flow may be held while it is looked for.
 */
import { TRUNK_HEADER_LENGTH, TRUNK_PASSED, setTrunkFlags } from '../../protocol/trunk.ts';
import { TO_TRUNK, type Counters } from './counters.ts';
import type { PacketSink } from './io.ts';
import type { Moment } from './moment.ts';
import type { Hop } from './next-hop.ts';
import type { HeldPacket, HeldPackets } from './recovery/held-packets.ts';
import type { UpRouter } from './up-router.ts';

export class Uplink {
  readonly #router: UpRouter;
  readonly #sink: PacketSink;
  readonly #counters: Counters;
  readonly #held: HeldPackets | undefined;

  /** @param held Undefined when flows are nowhere to be found. */
  constructor(
    router: UpRouter,
    sink: PacketSink,
    counters: Counters,
    held: HeldPackets | undefined,
  ) {
    this.#router = router;
    this.#sink = sink;
    this.#counters = counters;
    this.#held = held;
  }

  /**
   * Sends the up frame from `at` to `end` on, or counts why not.
   *
   * @param fromPeer It came from another region's relay.
   */
  send(frame: Uint8Array, at: number, end: number, fromPeer: boolean, now: Moment): void {
    const hop = this.#router.route(frame, at, end, fromPeer, now);
    if (typeof hop !== 'string') {
      this.#forward(frame, at, end, fromPeer, hop);
    } else if (
      hop !== 'no-flow' ||
      !this.#held?.hold(frame, at, end, fromPeer, performance.now())
    ) {
      this.#counters.drop(hop);
    }
  }

  /** To be called after each batch of packets. */
  endBatch(): void {
    if (!this.#held) return;
    this.#held.flush();
    if (this.#held.count > 0) this.#held.expire(performance.now());
  }

  /**
   * Sends on, or drops, the packets held for flows that have been looked for.
   *
   * @param headers The flows' trunk headers, one behind the other.
   */
  settle(headers: Uint8Array, now: Moment): void {
    if (!this.#held) return;
    const clock = performance.now();
    this.#held.expire(clock);
    for (let at = 0; at < headers.length; at += TRUNK_HEADER_LENGTH) {
      for (const packet of this.#held.settle(headers, at, clock)) this.#retry(packet, now);
    }
  }

  #retry({ frame, fromPeer }: HeldPacket, now: Moment): void {
    const hop = this.#router.route(frame, 0, frame.length, fromPeer, now);
    if (typeof hop === 'string') {
      this.#counters.drop(hop);
    } else {
      this.#counters.released();
      this.#forward(frame, 0, frame.length, fromPeer, hop);
    }
  }

  #forward(frame: Uint8Array, at: number, end: number, fromPeer: boolean, hop: Hop): void {
    if (fromPeer) setTrunkFlags(frame, at, TRUNK_PASSED);
    const payload = at + TRUNK_HEADER_LENGTH;
    this.#counters.packet(TO_TRUNK, end - payload, frame[payload]!);
    this.#sink.sendTrunk(frame, at, end, hop.address, 0, hop.port);
  }
}
