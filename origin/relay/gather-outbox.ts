/**
 * Trunk frames that wait to be sent, joined by destination: each datagram gathers its frames from where
 * they were received, so none is copied.
 */
import { ADDRESS_LENGTH, isMappedIPv4 } from '../../protocol/address.ts';
import { sameAddress } from './bytes.ts';
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

/** Frames, and destinations, held at most; a batch of clients' packets has no more of either. */
const MAX_FRAMES = 256;
const MAX_DESTINATIONS = 64;

const NONE = -1;

export class GatherOutbox {
  readonly #fd: number;
  readonly #ipv4: boolean;
  readonly #mtu: number;
  readonly #counters: Counters;

  readonly #framePointer = new Float64Array(MAX_FRAMES);
  readonly #frameLength = new Uint32Array(MAX_FRAMES);
  /** The next frame for the same destination. */
  readonly #frameNext = new Int32Array(MAX_FRAMES);
  #frames = 0;

  readonly #address = new Uint8Array(MAX_DESTINATIONS * ADDRESS_LENGTH);
  readonly #port = new Uint16Array(MAX_DESTINATIONS);
  readonly #firstFrame = new Int32Array(MAX_DESTINATIONS);
  readonly #lastFrame = new Int32Array(MAX_DESTINATIONS);
  #destinations = 0;

  readonly #names = new NativeWords(MAX_DESTINATIONS * NAME_WORDS);
  readonly #nameBytes = new Uint8Array(this.#names.buffer);
  readonly #iovecs = new NativeWords(MAX_FRAMES * IOVEC_WORDS);
  readonly #messages = new NativeWords(MAX_FRAMES * MESSAGE_WORDS);

  /** @param mtu Largest datagram that frames are joined into, in bytes of UDP payload. */
  constructor(fd: number, ipv4: boolean, mtu: number, counters: Counters) {
    this.#fd = fd;
    this.#ipv4 = ipv4;
    this.#mtu = mtu;
    this.#counters = counters;
    for (let i = 0; i < MAX_DESTINATIONS; i++) {
      initSockaddr(this.#nameBytes, i * NAME_LENGTH, ipv4);
    }
    for (let i = 0; i < MAX_FRAMES; i++) {
      this.#messages.words[i * MESSAGE_WORDS + MESSAGE_NAME_LENGTH] = sockaddrLength(ipv4);
    }
  }

  /** @param pointer Where the frame lies in the process; it must stay there until the flush. */
  add(pointer: number, length: number, address: Uint8Array, addressAt: number, port: number): void {
    if (port === 0 || isMappedIPv4(address, addressAt) !== this.#ipv4) {
      this.#counters.sendError();
      return;
    }
    if (this.#frames === MAX_FRAMES) this.flush();
    const destination = this.#destination(address, addressAt, port);
    const frame = this.#frames++;
    this.#framePointer[frame] = pointer;
    this.#frameLength[frame] = length;
    this.#frameNext[frame] = NONE;
    if (this.#firstFrame[destination] === NONE) this.#firstFrame[destination] = frame;
    else this.#frameNext[this.#lastFrame[destination]!] = frame;
    this.#lastFrame[destination] = frame;
  }

  flush(): void {
    if (this.#frames === 0) return;
    let iovecs = 0;
    let messages = 0;
    for (let destination = 0; destination < this.#destinations; destination++) {
      let frame = this.#firstFrame[destination]!;
      while (frame !== NONE) {
        const first = iovecs;
        let length = 0;
        do {
          setPointer(
            this.#iovecs.words,
            iovecs * IOVEC_WORDS + IOVEC_BASE,
            this.#framePointer[frame]!,
          );
          this.#iovecs.words[iovecs * IOVEC_WORDS + IOVEC_SIZE] = this.#frameLength[frame]!;
          iovecs++;
          length += this.#frameLength[frame]!;
          frame = this.#frameNext[frame]!;
        } while (frame !== NONE && length + this.#frameLength[frame]! <= this.#mtu);
        this.#addMessage(messages++, destination, first, iovecs - first);
      }
    }
    this.#frames = 0;
    this.#destinations = 0;
    sendMessages(this.#fd, this.#messages, messages, this.#counters);
  }

  #addMessage(message: number, destination: number, iovec: number, count: number): void {
    const { words } = this.#messages;
    const at = message * MESSAGE_WORDS;
    setPointer(words, at + MESSAGE_NAME, this.#names.pointerTo(destination * NAME_WORDS));
    setPointer(words, at + MESSAGE_IOVECS, this.#iovecs.pointerTo(iovec * IOVEC_WORDS));
    words[at + MESSAGE_IOVEC_COUNT] = count;
  }

  /** Its number, a new one when the address has none yet. Most packets go where the last one went. */
  #destination(address: Uint8Array, addressAt: number, port: number): number {
    for (let i = this.#destinations - 1; i >= 0; i--) {
      if (
        this.#port[i] === port &&
        sameAddress(this.#address, i * ADDRESS_LENGTH, address, addressAt)
      ) {
        return i;
      }
    }
    if (this.#destinations === MAX_DESTINATIONS) this.flush();
    const i = this.#destinations++;
    for (let byte = 0; byte < ADDRESS_LENGTH; byte++) {
      this.#address[i * ADDRESS_LENGTH + byte] = address[addressAt + byte]!;
    }
    this.#port[i] = port;
    this.#firstFrame[i] = NONE;
    setSockaddr(this.#nameBytes, i * NAME_LENGTH, this.#ipv4, address, addressAt, port);
    return i;
  }
}
