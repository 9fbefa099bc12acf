/** Which transceivers a relay's own cluster has, and where on the trunk they listen. */
import type { TrunkAddress } from '../protocol/footprint.ts';

/** @param trunk Undefined once the cluster has the transceiver no more. */
export type DirectoryListener = (transceiver: number, trunk: TrunkAddress | undefined) => void;

export interface TransceiverDirectory {
  /**
   * Tells all that the directory holds before it returns, and then every change as it happens.
   *
   * @returns Ends the watch.
   */
  watch(listener: DirectoryListener): () => void;
}

/** The directory of a one-box region, whose relay and transceivers share a process. */
export class MemoryDirectory implements TransceiverDirectory {
  readonly #trunks = new Map<number, TrunkAddress>();
  readonly #listeners = new Set<DirectoryListener>();

  add(transceiver: number, trunk: TrunkAddress): void {
    this.#trunks.set(transceiver, trunk);
    this.#tell(transceiver, trunk);
  }

  remove(transceiver: number): void {
    this.#trunks.delete(transceiver);
    this.#tell(transceiver, undefined);
  }

  watch(listener: DirectoryListener): () => void {
    for (const [transceiver, trunk] of this.#trunks) listener(transceiver, trunk);
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #tell(transceiver: number, trunk: TrunkAddress | undefined): void {
    for (const listener of this.#listeners) listener(transceiver, trunk);
  }
}
