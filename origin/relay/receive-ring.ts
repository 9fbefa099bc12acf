/** Memory for one batch of received packets, and the structures that let the system fill it at once. */
import { ADDRESS_LENGTH } from '../../protocol/address.ts';
import { TRUNK_HEADER_LENGTH } from '../../protocol/trunk.ts';
import type { Counters } from './counters.ts';
import { MSG_DONTWAIT, MSG_TRUNC, addressOf, libc } from './libc.ts';
import {
  IOVEC_BASE,
  IOVEC_SIZE,
  IOVEC_WORDS,
  MESSAGE_FLAGS,
  MESSAGE_IOVECS,
  MESSAGE_IOVEC_COUNT,
  MESSAGE_LENGTH,
  MESSAGE_NAME,
  MESSAGE_NAME_LENGTH,
  MESSAGE_WORDS,
  NAME_LENGTH,
  NAME_WORDS,
  NativeWords,
  setPointer,
} from './native-message.ts';
import { MAX_CLIENT_PACKET, MAX_TRUNK_DATAGRAM, PacketBatch } from './packet-batch.ts';
import { sockaddrAddress, sockaddrPort } from './sockaddr.ts';

/** Packets taken at a time: enough to make the system calls cheap, few enough to stay in cache. */
export const BATCH_SIZE = 64;

export class ReceiveRing {
  readonly batch: PacketBatch;
  /** Where the batch's bytes lie in the process. */
  readonly address: number;
  readonly #headroom: number;
  readonly #names = new NativeWords(BATCH_SIZE * NAME_WORDS);
  readonly #nameBytes = new Uint8Array(this.#names.buffer);
  readonly #iovecs = new NativeWords(BATCH_SIZE * IOVEC_WORDS);
  readonly #messages = new NativeWords(BATCH_SIZE * MESSAGE_WORDS);

  private constructor(headroom: number, largest: number) {
    this.batch = new PacketBatch(BATCH_SIZE, headroom + largest);
    this.address = addressOf(this.batch.bytes.buffer);
    this.#headroom = headroom;
    const messages = this.#messages.words;
    const iovecs = this.#iovecs.words;
    for (let i = 0; i < BATCH_SIZE; i++) {
      const message = i * MESSAGE_WORDS;
      const iovec = i * IOVEC_WORDS;
      const slot = this.address + i * this.batch.slotLength + headroom;
      setPointer(iovecs, iovec + IOVEC_BASE, slot);
      iovecs[iovec + IOVEC_SIZE] = largest;
      setPointer(messages, message + MESSAGE_NAME, this.#names.pointerTo(i * NAME_WORDS));
      messages[message + MESSAGE_NAME_LENGTH] = NAME_LENGTH;
      setPointer(messages, message + MESSAGE_IOVECS, this.#iovecs.pointerTo(iovec));
      messages[message + MESSAGE_IOVEC_COUNT] = 1;
    }
  }

  /** For packets of clients, with room for a trunk header in front of each. */
  static forClients(): ReceiveRing {
    return new ReceiveRing(TRUNK_HEADER_LENGTH, MAX_CLIENT_PACKET);
  }

  static forTrunk(): ReceiveRing {
    return new ReceiveRing(0, MAX_TRUNK_DATAGRAM);
  }

  /** Fills the batch with what waits at the socket. @param socket What the batch is to say of it. */
  receive(fd: number, ipv4: boolean, socket: number, counters: Counters): PacketBatch {
    const { batch } = this;
    const messages = this.#messages.words;
    batch.count = 0;
    const received = libc().recvmmsg(fd, this.#messages.address, BATCH_SIZE, MSG_DONTWAIT, 0);
    for (let slot = 0; slot < received; slot++) {
      const message = slot * MESSAGE_WORDS;
      messages[message + MESSAGE_NAME_LENGTH] = NAME_LENGTH;
      if ((messages[message + MESSAGE_FLAGS]! & MSG_TRUNC) !== 0) {
        counters.drop('oversized');
        continue;
      }
      const i = batch.count++;
      const start = slot * batch.slotLength + this.#headroom;
      const name = slot * NAME_LENGTH;
      batch.start[i] = start;
      batch.end[i] = start + messages[message + MESSAGE_LENGTH]!;
      sockaddrAddress(this.#nameBytes, name, ipv4, batch.source, i * ADDRESS_LENGTH);
      batch.port[i] = sockaddrPort(this.#nameBytes, name);
      batch.socket[i] = socket;
    }
    return batch;
  }
}
