/** A packet from a client: gets its trunk header, in place in front of it, and goes up. */
import { ADDRESS_LENGTH } from '../../protocol/address.ts';
import { TRUNK_HEADER_LENGTH, writeTrunkHeader } from '../../protocol/trunk.ts';
import { FROM_CLIENTS, type Counters } from './counters.ts';
import type { Moment } from './moment.ts';
import type { Hop } from './next-hop.ts';
import type { PacketBatch } from './packet-batch.ts';
import type { Uplink } from './uplink.ts';

export class FromClient {
  readonly #self: Hop;
  readonly #uplink: Uplink;
  readonly #counters: Counters;

  /** @param self The relay's own trunk address, which replies come back to. */
  constructor(self: Hop, uplink: Uplink, counters: Counters) {
    this.#self = self;
    this.#uplink = uplink;
    this.#counters = counters;
  }

  /** Handles packet `i`, which came to a listener. */
  handle(batch: PacketBatch, i: number, now: Moment): void {
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
    this.#uplink.send(bytes, at, end, false, now);
  }
}
