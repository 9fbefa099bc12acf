/** Which transceivers a relay's own cluster has, and where on the trunk they listen. */
import type { TrunkAddress } from '../protocol/footprint.ts';

export interface TransceiverDirectory {
  /** Undefined when the cluster has no such transceiver. Answers at once: it stands in the packet path. */
  trunkOf(transceiver: number): TrunkAddress | undefined;
}

/** The directory of a one-box region, whose relay and transceivers share a process. */
export class MemoryDirectory implements TransceiverDirectory {
  readonly #trunks = new Map<number, TrunkAddress>();

  add(transceiver: number, trunk: TrunkAddress): void {
    this.#trunks.set(transceiver, trunk);
  }

  remove(transceiver: number): void {
    this.#trunks.delete(transceiver);
  }

  trunkOf(transceiver: number): TrunkAddress | undefined {
    return this.#trunks.get(transceiver);
  }
}
