/** The seam between forwarding and system calls: what every I/O back end of a relay offers. */
import type { TrunkAddress } from '../../protocol/footprint.ts';
import type { Counters } from './counters.ts';
import type { PacketBatch } from './packet-batch.ts';

/** Where the forwarder puts packets. Bytes and addresses must stay as they are until the flush. */
export interface PacketSink {
  /**
   * Sends `data` from `start` to `end` from the socket of that listener.
   *
   * @param address 16 bytes at `addressAt`, of the listener's family.
   */
  sendPublic(
    listener: number,
    data: Uint8Array,
    start: number,
    end: number,
    address: Uint8Array,
    addressAt: number,
    port: number,
  ): void;

  /**
   * Sends one whole trunk frame. Frames for one destination keep their order and may be joined into
   * datagrams of up to {@link IoOptions.trunkMtu} bytes.
   */
  sendTrunk(
    data: Uint8Array,
    start: number,
    end: number,
    address: Uint8Array,
    addressAt: number,
    port: number,
  ): void;

  /** Hands everything to the system; nothing is held back to wait for more. */
  flush(): void;
}

/** Open sockets. An error of the network never throws, closes nothing and is counted. */
export interface RelayIo extends PacketSink {
  /** The public addresses as bound, with their real ports, in the order of the options. */
  readonly listeners: readonly TrunkAddress[];
  readonly trunk: TrunkAddress;
  /** Begins to receive; the batch is the callee's until it returns. To be called once. */
  start(onBatch: (batch: PacketBatch) => void): void;
  /** Takes no new connections; those there are go on. */
  retire?(): void;
  /** Sending afterwards does nothing. */
  close(): Promise<void>;
}

export interface IoOptions {
  /** At most {@link MAX_LISTENERS}. Port 0 takes a free one. */
  readonly listeners: readonly TrunkAddress[];
  readonly trunk: TrunkAddress;
  /**
   * Whether to open the addresses beside another process of this user that has them, whose place this
   * one is to take; otherwise an address in use is an error. Only the batched back end and TCP can.
   */
  readonly beside?: boolean | undefined;
  /**
   * Largest trunk datagram that frames are joined into, in bytes of UDP payload: by default `TRUNK_MTU`, or
   * up to 8972 where every path of the trunk carries jumbo frames.
   */
  readonly trunkMtu?: number | undefined;
}

/** A trunk frame names the listener in one byte, of which one value stands for the trunk itself. */
export const MAX_LISTENERS = 255;

/** @throws Error that says what to do, when there are more. */
export function requireListeners({ listeners }: IoOptions): void {
  if (listeners.length > MAX_LISTENERS) {
    throw new Error(`A relay has at most ${MAX_LISTENERS} listeners; give each cluster its own.`);
  }
}

/**
 * @param counters Told of packets that are too large, and of datagrams that the system refuses.
 * @throws Error that names the address and what to do, when one cannot be bound; none stays open.
 */
export type OpenIo = (options: IoOptions, counters: Counters) => Promise<RelayIo>;
