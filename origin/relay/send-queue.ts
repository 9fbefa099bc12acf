/** Datagrams that wait to be sent from one socket to clients, in one system call. */
import { isMappedIPv4 } from '../../protocol/address.ts';
import type { Counters } from './counters.ts';
import {
  IOVEC_BASE,
  IOVEC_SIZE,
  IOVEC_WORDS,
  MESSAGE_IOVECS,
  MESSAGE_IOVEC_COUNT,
  MESSAGE_NAME,
  MESSAGE_NAME_LENGTH,
  MESSAGE_WORDS,
  NAME_LENGTH,
  NAME_WORDS,
  NativeWords,
  sendMessages,
  setPointer,
} from './native-message.ts';
import { initSockaddr, setSockaddr, sockaddrLength } from './sockaddr.ts';

/** Datagrams handed to the system at a time. */
const QUEUE_SIZE = 64;

export class SendQueue {
  readonly #fd: number;
  readonly #ipv4: boolean;
  readonly #counters: Counters;
  readonly #names = new NativeWords(QUEUE_SIZE * NAME_WORDS);
  readonly #nameBytes = new Uint8Array(this.#names.buffer);
  readonly #iovecs = new NativeWords(QUEUE_SIZE * IOVEC_WORDS);
  readonly #messages = new NativeWords(QUEUE_SIZE * MESSAGE_WORDS);
  #count = 0;

  constructor(fd: number, ipv4: boolean, counters: Counters) {
    this.#fd = fd;
    this.#ipv4 = ipv4;
    this.#counters = counters;
    const messages = this.#messages.words;
    for (let i = 0; i < QUEUE_SIZE; i++) {
      const message = i * MESSAGE_WORDS;
      initSockaddr(this.#nameBytes, i * NAME_LENGTH, ipv4);
      setPointer(messages, message + MESSAGE_NAME, this.#names.pointerTo(i * NAME_WORDS));
      messages[message + MESSAGE_NAME_LENGTH] = sockaddrLength(ipv4);
      setPointer(messages, message + MESSAGE_IOVECS, this.#iovecs.pointerTo(i * IOVEC_WORDS));
      messages[message + MESSAGE_IOVEC_COUNT] = 1;
    }
  }

  /** @param pointer Where the datagram lies in the process; it must stay there until the flush. */
  add(pointer: number, length: number, address: Uint8Array, addressAt: number, port: number): void {
    if (port === 0 || isMappedIPv4(address, addressAt) !== this.#ipv4) {
      this.#counters.sendError();
      return;
    }
    const i = this.#count++;
    const iovec = i * IOVEC_WORDS;
    setPointer(this.#iovecs.words, iovec + IOVEC_BASE, pointer);
    this.#iovecs.words[iovec + IOVEC_SIZE] = length;
    setSockaddr(this.#nameBytes, i * NAME_LENGTH, this.#ipv4, address, addressAt, port);
    if (this.#count === QUEUE_SIZE) this.flush();
  }

  flush(): void {
    if (this.#count === 0) return;
    sendMessages(this.#fd, this.#messages, this.#count, this.#counters);
    this.#count = 0;
  }
}
