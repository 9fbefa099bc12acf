/** The batched back end on the calling thread, so that its contract can be tested without a thread. */
import { BatchedIo } from '../batched-io.ts';
import type { OpenIo } from '../io.ts';
import { ThreadOutbox } from '../thread-channel.ts';
import { closeSocketSet, openSocketSets } from '../udp-sockets.ts';

/** Looks for packets once in each turn of the event loop, and does not wait for any. */
export const openPolledIo: OpenIo = async (options, counters) => {
  const { listeners, trunk, sets } = openSocketSets(options, 1);
  const [sockets] = sets;
  const outbox = new ThreadOutbox();
  const { trunkMtu } = options;
  const io = new BatchedIo({ sockets: sockets!, wake: outbox.inbox.wake, trunkMtu }, counters);
  let turns: NodeJS.Immediate | undefined;
  let closed = false;
  return {
    listeners,
    trunk,
    start: (onBatch) => {
      const turn = (): void => {
        io.turn(0, onBatch);
        if (!closed) turns = setImmediate(turn);
      };
      turn();
    },
    sendPublic: (...args) => closed || io.sendPublic(...args),
    sendTrunk: (...args) => closed || io.sendTrunk(...args),
    flush: () => io.flush(),
    close: async () => {
      if (closed) return;
      closed = true;
      clearImmediate(turns);
      outbox.close();
      closeSocketSet(sockets!);
    },
  };
};
