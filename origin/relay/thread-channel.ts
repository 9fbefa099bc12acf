/**
 * Messages from the main thread to a relay thread, which never returns to its event loop: they wait in a
 * port, a flag in shared memory says so, and an eventfd ends the thread's wait for packets.
 */
import { MessageChannel, receiveMessageOnPort, type MessagePort } from 'node:worker_threads';
import { EFD_CLOEXEC, EFD_NONBLOCK, errorCode, libc } from './libc.ts';
import type { Hop } from './next-hop.ts';

export type ThreadMessage =
  | { readonly type: 'place'; readonly transceiver: number; readonly hop: Hop | undefined }
  /** Flows have been looked for. */
  | { readonly type: 'settle'; readonly headers: Uint8Array }
  | { readonly type: 'stop' };

/** What a thread tells the main thread. */
export type ThreadReport =
  | { readonly type: 'ready' }
  /** Flows are to be looked for. */
  | { readonly type: 'ask'; readonly headers: Uint8Array };

/** The thread's end, to be handed over; `port` is to be transferred. */
export interface ThreadInbox {
  readonly port: MessagePort;
  readonly flag: Int32Array<SharedArrayBuffer>;
  /** The eventfd. */
  readonly wake: number;
}

/** The main thread's end. */
export class ThreadOutbox {
  readonly inbox: ThreadInbox;
  readonly #port: MessagePort;

  constructor() {
    const wake = libc().eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (wake < 0) throw new Error(`Cannot make an eventfd for a relay thread: ${errorCode()}.`);
    const { port1, port2 } = new MessageChannel();
    this.#port = port1;
    this.inbox = { port: port2, flag: new Int32Array(new SharedArrayBuffer(4)), wake };
  }

  post(message: ThreadMessage): void {
    this.#port.postMessage(message, []);
    Atomics.store(this.inbox.flag, 0, 1);
    const one = BigUint64Array.of(1n);
    libc().write(this.inbox.wake, new Uint8Array(one.buffer), one.byteLength);
  }

  /** To be called when the thread has ended. */
  close(): void {
    this.#port.close();
    libc().close(this.inbox.wake);
  }
}

/** Handles what has been posted. Cheap when there is nothing. */
export function takeMessages(inbox: ThreadInbox, handle: (message: ThreadMessage) => void): void {
  if (Atomics.load(inbox.flag, 0) === 0) return;
  // What is posted from here on sets the flag again.
  Atomics.store(inbox.flag, 0, 0);
  for (let next; (next = receiveMessageOnPort(inbox.port));) {
    const message: ThreadMessage = next.message;
    handle(message);
  }
}
