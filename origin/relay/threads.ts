/** The data plane on threads of its own, over batched system calls. */
import type { TrunkAddress } from '../../protocol/footprint.ts';
import { Counters } from './counters.ts';
import { allowedCpus } from './cpu-affinity.ts';
import type { DataPlane, UnboundSetup } from './data-plane.ts';
import type { IoOptions } from './io.ts';
import type { Hop } from './next-hop.ts';
import { countSockets } from './port-sharing.ts';
import type { RestoreFlows } from './recovery/flow-recovery.ts';
import type { RelayThreadData } from './relay-thread.ts';
import { startStrippedWorker } from './stripped-worker.ts';
import { ThreadOutbox, type ThreadMessage, type ThreadReport } from './thread-channel.ts';
import { closeSocketSet, openSocketSets, type SocketSet, type SocketSets } from './udp-sockets.ts';

/** A forwarding thread leaves next to no garbage; the less room that has, the shorter is each collection. */
const HEAP = { maxYoungGenerationSizeMb: 1 };

/** Milliseconds without a packet after which addresses that another process has, too, are left to it. */
const LEAVE_AFTER = 1_000;

/**
 * @param count Threads; each is kept on a processor of its own when there are several.
 * @param restore Finds flows that packets lack.
 */
export async function openThreads(
  setup: UnboundSetup,
  options: IoOptions,
  count: number,
  restore?: RestoreFlows,
): Promise<DataPlane> {
  const { listeners, trunk, sets, takeOver } = openSocketSets(options, count);
  const cpus = count > 1 ? allowedCpus() : [];
  const threads = sets.map(
    (sockets, i) =>
      new RelayThread(restore, (inbox, counters) => ({
        setup: { ...setup, listeners, trunk },
        io: { sockets, wake: inbox.wake, trunkMtu: options.trunkMtu },
        counters,
        inbox,
        asks: restore !== undefined,
        cpu: cpus[i % cpus.length],
      })),
  );
  const plane = new ThreadedPlane({ listeners, trunk, sets, takeOver }, threads);
  try {
    await Promise.all(threads.map((thread) => thread.started));
  } catch (error) {
    await plane.close();
    throw error;
  }
  return plane;
}

class ThreadedPlane implements DataPlane {
  readonly listeners: readonly TrunkAddress[];
  readonly trunk: TrunkAddress;
  readonly counters: readonly Counters[];
  readonly takeOver: () => void;
  readonly #sets: readonly SocketSet[];
  readonly #threads: readonly RelayThread[];
  #closed: Promise<void> | undefined;
  #looks: NodeJS.Timeout | undefined;

  constructor({ listeners, trunk, sets, takeOver }: SocketSets, threads: readonly RelayThread[]) {
    this.takeOver = takeOver;
    this.listeners = listeners;
    this.trunk = trunk;
    this.#sets = sets;
    this.counters = threads.map(({ counters }) => counters);
    this.#threads = threads;
  }

  place(transceiver: number, hop: Hop | undefined): void {
    for (const thread of this.#threads) thread.post({ type: 'place', transceiver, hop });
  }

  /** A third process could not tell sockets that stay from those of the one whose place it takes. */
  retire(): void {
    let received = this.#received;
    this.#looks ??= setInterval(() => {
      const before = received;
      received = this.#received;
      if (received === before && this.#isShared) void this.close();
    }, LEAVE_AFTER).unref();
  }

  close(): Promise<void> {
    this.#closed ??= this.#end();
    return this.#closed;
  }

  get #received(): number {
    return this.counters.reduce((sum, { batchPackets }) => sum + batchPackets.counts.sum, 0);
  }

  get #isShared(): boolean {
    const addresses = [...this.listeners, this.trunk];
    return addresses.every((address) => countSockets(address) > this.#sets.length);
  }

  async #end(): Promise<void> {
    clearInterval(this.#looks);
    await Promise.all(this.#threads.map((thread) => thread.close()));
    // All at one time: while some are closed, the system may choose those that nobody reads any more.
    this.#sets.forEach(closeSocketSet);
  }
}

class RelayThread {
  readonly counters = new Counters();
  /** Settles when the thread forwards. */
  readonly started: Promise<void>;
  readonly #outbox = new ThreadOutbox();
  readonly #exited: Promise<unknown>;
  #closed: Promise<void> | undefined;

  constructor(
    restore: RestoreFlows | undefined,
    dataFor: (inbox: ThreadOutbox['inbox'], counters: SharedArrayBuffer) => RelayThreadData,
  ) {
    const { inbox } = this.#outbox;
    const entry = new URL('./relay-thread.ts', import.meta.url);
    const data = dataFor(inbox, this.counters.memory);
    const options = { transferList: [inbox.port], resourceLimits: HEAP };
    const worker = startStrippedWorker(entry, data, options);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.started = promise;
    this.#exited = new Promise((ended) => worker.once('exit', ended));
    worker.on('message', (report: ThreadReport) => {
      if (report.type === 'ask') {
        const { headers } = report;
        void restore?.(headers).then(() => this.post({ type: 'settle', headers }));
        return;
      }
      resolve();
      // A thread that fails has half done something: that must end the process, not go unseen.
      worker.off('error', reject);
    });
    worker.once('error', reject);
  }

  post(message: ThreadMessage): void {
    if (!this.#closed) this.#outbox.post(message);
  }

  close(): Promise<void> {
    this.#closed ??= this.#end();
    return this.#closed;
  }

  async #end(): Promise<void> {
    this.#outbox.post({ type: 'stop' });
    await this.#exited;
    this.#outbox.close();
  }
}
