/** Gathers packets that come one event at a time into batches. */
import type { Counters } from './counters.ts';
import { PacketBatch } from './packet-batch.ts';

/** Packets handled at a time; one turn of the event loop seldom brings more. */
const BATCH_SIZE = 64;

export class PacketCollector {
  readonly #batch: PacketBatch;
  readonly #counters: Counters;
  #onBatch: (batch: PacketBatch) => void = () => {};
  #scheduled = false;
  #closed = false;

  /** @param largest Bytes of the largest packet, headroom included. */
  constructor(counters: Counters, largest?: number) {
    this.#batch = new PacketBatch(BATCH_SIZE, largest);
    this.#counters = counters;
  }

  start(onBatch: (batch: PacketBatch) => void): void {
    this.#onBatch = onBatch;
  }

  /** As {@link PacketBatch.push}; the batch is handed over when it is full, or this turn's packets are in. */
  add(packet: Uint8Array, source: Uint8Array, port: number, socket: number): void {
    if (!this.#batch.push(packet, source, port, socket)) {
      this.#counters.drop('oversized');
    } else if (this.#batch.full) {
      this.#deliver();
    } else if (!this.#scheduled) {
      this.#scheduled = true;
      // Runs once this turn's packets are all in, still before the loop waits again.
      setImmediate(() => {
        this.#scheduled = false;
        this.#deliver();
      });
    }
  }

  /** Nothing is handed over afterwards. */
  close(): void {
    this.#closed = true;
  }

  #deliver(): void {
    if (this.#closed || this.#batch.count === 0) return;
    this.#onBatch(this.#batch);
    this.#batch.count = 0;
  }
}
