/** What forwards a relay's packets, and its form on one thread over events. */
import type { TrunkAddress } from '../../protocol/footprint.ts';
import { Counters } from './counters.ts';
import { Forwarder, type ForwarderSetup } from './forwarder.ts';
import type { IoOptions, OpenIo } from './io.ts';
import type { Hop } from './next-hop.ts';
import type { RestoreFlows } from './recovery/flow-recovery.ts';

export interface DataPlane {
  /** The public addresses as bound, with their real ports. */
  readonly listeners: readonly TrunkAddress[];
  readonly trunk: TrunkAddress;
  /** Of each thread. */
  readonly counters: readonly Counters[];
  /** Says where a transceiver is now; undefined when it is no more. */
  place(transceiver: number, hop: Hop | undefined): void;
  /** Takes the addresses over from the process beside which they were opened. */
  takeOver?(): void;
  /**
   * Takes no new connections, and leaves addresses to the process that has taken them over; all else goes
   * on.
   */
  retire?(): void;
  close(): Promise<void>;
}

/** All of a {@link ForwarderSetup} but what is known once sockets are bound. */
export type UnboundSetup = Omit<ForwarderSetup, 'listeners' | 'trunk'>;

/** Forwards on the calling thread. @param restore Finds flows that packets lack. */
export async function openLocalPlane(
  setup: UnboundSetup,
  options: IoOptions,
  openIo: OpenIo,
  restore?: RestoreFlows,
): Promise<DataPlane> {
  const counters = new Counters();
  const io = await openIo(options, counters);
  const { listeners, trunk } = io;
  try {
    const ask =
      restore &&
      ((headers: Uint8Array): void => void restore(headers).then(() => forwarder.settle(headers)));
    const forwarder = new Forwarder({ ...setup, listeners, trunk }, io, counters, ask);
    io.start((batch) => forwarder.forward(batch));
    return {
      listeners,
      trunk,
      counters: [counters],
      place: (transceiver, hop) => forwarder.place(transceiver, hop),
      retire: () => io.retire?.(),
      close: () => io.close(),
    };
  } catch (error) {
    await io.close();
    throw error;
  }
}
