/** A packet from a client: gets its trunk header, in place in front of it, and goes up. */
import { ADDRESS_LENGTH } from '../../protocol/address.ts';
import { TRUNK_HEADER_LENGTH, writeTrunkHeader } from '../../protocol/trunk.ts';
import { FROM_CLIENTS, TO_TRUNK, type Counters } from './counters.ts';
import type { PacketSink } from './io.ts';
import type { Hop } from './next-hop.ts';
import type { PacketBatch } from './packet-batch.ts';
import type { UpRouter } from './up-router.ts';

export class FromClient {
  readonly #self: Hop;
  readonly #router: UpRouter;
  readonly #sink: PacketSink;
  readonly #counters: Counters;

  /** @param self The relay's own trunk address, which replies come back to. */
  constructor(self: Hop, router: UpRouter, sink: PacketSink, counters: Counters) {
    this.#self = self;
    this.#router = router;
    this.#sink = sink;
    this.#counters = counters;
  }

  /** Handles packet `i`, which came to a listener. */
  handle(batch: PacketBatch, i: number, now: number): void {
    const { bytes } = batch;
    const start = batch.start[i]!;
    const end = batch.end[i]!;
    const port = batch.port[i]!;
    this.#counters.packet(FROM_CLIENTS, end - start, bytes[start]!);
    if (port === 0) {
      this.#counters.drop('unusable-address');
      return;
    }
    if (start === end) {
      this.#counters.drop('not-media');
      return;
    }
    const at = start - TRUNK_HEADER_LENGTH;
    writeTrunkHeader(
      bytes,
      at,
      0,
      batch.socket[i]!,
      end - start,
      batch.source,
      i * ADDRESS_LENGTH,
      port,
      this.#self.address,
      0,
      this.#self.port,
    );
    const hop = this.#router.route(bytes, at, end, false, now);
    if (typeof hop === 'string') {
      this.#counters.drop(hop);
      return;
    }
    this.#counters.packet(TO_TRUNK, end - start, bytes[start]!);
    this.#sink.sendTrunk(bytes, at, end, hop.address, 0, hop.port);
  }
}
