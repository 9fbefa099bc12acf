/** A relay thread: blocks in poll and forwards, until it is told to stop. Its counters outlive it. */
import { parentPort, workerData } from 'node:worker_threads';
import { BatchedIo, type BatchedIoOptions } from './batched-io.ts';
import { Counters } from './counters.ts';
import { pinThread } from './cpu-affinity.ts';
import { Forwarder, type ForwarderSetup } from './forwarder.ts';
import {
  takeMessages,
  type ThreadInbox,
  type ThreadMessage,
  type ThreadReport,
} from './thread-channel.ts';

/** What the main thread hands to a relay thread. */
export interface RelayThreadData {
  readonly setup: ForwarderSetup;
  readonly io: BatchedIoOptions;
  readonly counters: SharedArrayBuffer;
  readonly inbox: ThreadInbox;
  /** Whether flows may be found elsewhere, and are to be asked for. */
  readonly asks: boolean;
  /** The processor to keep to. */
  readonly cpu: number | undefined;
}

/** Milliseconds in poll at most: a process that exits waits as long for a thread in a system call. */
const LONGEST_WAIT = 100;

const handed: { data: RelayThreadData } = workerData;
const { setup, io: ioOptions, counters: memory, inbox, asks, cpu } = handed.data;
if (cpu !== undefined) pinThread(cpu);
const counters = new Counters(memory);
const io = new BatchedIo(ioOptions, counters);
const report = (message: ThreadReport): void => parentPort?.postMessage(message, []);
const ask = (headers: Uint8Array): void => report({ type: 'ask', headers });
const forwarder = new Forwarder(setup, io, counters, asks ? ask : undefined);
const life = { stopped: false };

const handle = (message: ThreadMessage): void => {
  if (message.type === 'stop') life.stopped = true;
  else if (message.type === 'settle') forwarder.settle(message.headers);
  else forwarder.place(message.transceiver, message.hop);
};

report({ type: 'ready' });
while (!life.stopped) {
  takeMessages(inbox, handle);
  io.turn(LONGEST_WAIT, (batch) => {
    // What was posted before these packets were sent must count for them.
    takeMessages(inbox, handle);
    forwarder.forward(batch);
  });
}
inbox.port.close();
