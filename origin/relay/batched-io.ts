/**
 * The I/O back end for Linux: one system call for many packets, on memory that never moves. It blocks
 * its thread, and has one of its own.
 */
import { TRUNK_MTU } from '../../protocol/trunk.ts';
import type { Counters } from './counters.ts';
import { GatherOutbox } from './gather-outbox.ts';
import type { PacketSink } from './io.ts';
import { POLLFD_LENGTH, POLLIN, addressOf, libc } from './libc.ts';
import { NativeWords } from './native-message.ts';
import { TRUNK_SOCKET, type PacketBatch } from './packet-batch.ts';
import { ReceiveRing } from './receive-ring.ts';
import { SendQueue } from './send-queue.ts';
import type { SocketSet, UdpSocket } from './udp-sockets.ts';

const POLLFD_WORDS = POLLFD_LENGTH / 4;
/** A pollfd is `fd i32 | events i16 | revents i16`, little endian. */
const REVENTS_SHIFT = 16;

export interface BatchedIoOptions {
  readonly sockets: SocketSet;
  /** An eventfd that ends a wait. */
  readonly wake: number;
  readonly trunkMtu?: number | undefined;
}

export class BatchedIo implements PacketSink {
  readonly #sockets: readonly UdpSocket[];
  readonly #counters: Counters;
  readonly #wake: number;
  readonly #wakeCount = new Uint8Array(8);
  readonly #polled: NativeWords;
  readonly #clients = ReceiveRing.forClients();
  readonly #trunk = ReceiveRing.forTrunk();
  readonly #queues: readonly SendQueue[];
  readonly #outbox: GatherOutbox;
  /** Bytes from elsewhere than the rings, kept alive while the system is pointed to them. */
  readonly #lent: Uint8Array[] = [];

  constructor({ sockets, wake, trunkMtu = TRUNK_MTU }: BatchedIoOptions, counters: Counters) {
    const { listeners, trunk } = sockets;
    this.#counters = counters;
    this.#wake = wake;
    this.#sockets = [...listeners, trunk];
    this.#queues = listeners.map(({ fd, ipv4 }) => new SendQueue(fd, ipv4, counters));
    this.#outbox = new GatherOutbox(trunk.fd, trunk.ipv4, trunkMtu, counters);
    const polled = [...this.#sockets.map(({ fd }) => fd), wake];
    this.#polled = new NativeWords(polled.length * POLLFD_WORDS);
    for (const [i, fd] of polled.entries()) {
      this.#polled.words[i * POLLFD_WORDS] = fd;
      this.#polled.words[i * POLLFD_WORDS + 1] = POLLIN;
    }
  }

  /**
   * Waits for packets or a wake-up, and hands over at most one batch of each socket.
   *
   * @param timeout Milliseconds.
   * @param onBatch The batch is the callee's until it returns.
   */
  turn(timeout: number, onBatch: (batch: PacketBatch) => void): void {
    const count = this.#sockets.length + 1;
    if (libc().poll(this.#polled.address, count, timeout) <= 0) return;
    if (this.#ready(count - 1)) libc().read(this.#wake, this.#wakeCount, this.#wakeCount.length);
    for (let i = 0; i < this.#sockets.length; i++) {
      if (!this.#ready(i)) continue;
      const { fd, ipv4 } = this.#sockets[i]!;
      const isTrunk = i === this.#queues.length;
      const ring = isTrunk ? this.#trunk : this.#clients;
      const batch = ring.receive(fd, ipv4, isTrunk ? TRUNK_SOCKET : i, this.#counters);
      if (batch.count > 0) onBatch(batch);
    }
  }

  sendPublic(
    listener: number,
    data: Uint8Array,
    start: number,
    end: number,
    address: Uint8Array,
    addressAt: number,
    port: number,
  ): void {
    const pointer = this.#pointerTo(data) + start;
    this.#queues[listener]!.add(pointer, end - start, address, addressAt, port);
  }

  sendTrunk(
    data: Uint8Array,
    start: number,
    end: number,
    address: Uint8Array,
    addressAt: number,
    port: number,
  ): void {
    this.#outbox.add(this.#pointerTo(data) + start, end - start, address, addressAt, port);
  }

  flush(): void {
    for (const queue of this.#queues) queue.flush();
    this.#outbox.flush();
    if (this.#lent.length > 0) this.#lent.length = 0;
  }

  #ready(i: number): boolean {
    return this.#polled.words[i * POLLFD_WORDS + 1]! >>> REVENTS_SHIFT !== 0;
  }

  #pointerTo(data: Uint8Array): number {
    if (data === this.#clients.batch.bytes) return this.#clients.address;
    if (data === this.#trunk.batch.bytes) return this.#trunk.address;
    this.#lent.push(data);
    return addressOf(data.buffer) + data.byteOffset;
  }
}
