/**
 * Trunk frames that wait to be sent, joined by destination: each datagram gathers its frames from where
 * they were received, so none is copied. Datagrams for one destination go to the system as one message,
 * which it cuts apart (UDP_SEGMENT): all but the last have one length, for which they are padded.
 */
import { ADDRESS_LENGTH, isMappedIPv4 } from '../../protocol/address.ts';
import { sameAddress } from './bytes.ts';
import type { Counters } from './counters.ts';
import {
  CMSG_UINT16_LENGTH,
  CMSG_UINT16_SPACE,
  NativeMemory,
  SOL_UDP,
  UDP_SEGMENT,
} from './libc.ts';
import {
  CONTROL_LENGTH,
  CONTROL_LEVEL,
  CONTROL_TYPE,
  CONTROL_VALUE,
  CONTROL_WORDS,
  IOVEC_BASE,
  IOVEC_SIZE,
  IOVEC_WORDS,
  MESSAGE_CONTROL,
  MESSAGE_CONTROL_LENGTH,
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

/** Datagrams the system cuts one message into at most (UDP_MAX_SEGMENTS), and bytes they have in all. */
const MAX_SEGMENTS = 64;
const MAX_MESSAGE = 65_000;

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
  /** One for each frame, and one for each datagram's padding. */
  readonly #iovecs = new NativeWords(2 * MAX_FRAMES * IOVEC_WORDS);
  readonly #messages = new NativeWords(MAX_FRAMES * MESSAGE_WORDS);
  readonly #controls = new NativeWords(MAX_FRAMES * CONTROL_WORDS);
  readonly #padding: NativeMemory;
  /** Of each message. */
  readonly #datagrams = new Uint8Array(MAX_FRAMES);
  #iovecCount = 0;
  #messageCount = 0;
  /** Of the one that was added last. */
  #datagramLength = 0;
  /** Whether the system is known to cut messages, or nothing else is known. */
  #segments = true;

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
      const control = i * CONTROL_WORDS;
      this.#controls.words[control + CONTROL_LENGTH] = CMSG_UINT16_LENGTH;
      this.#controls.words[control + CONTROL_LEVEL] = SOL_UDP;
      this.#controls.words[control + CONTROL_TYPE] = UDP_SEGMENT;
    }
    this.#padding = new NativeMemory(mtu);
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
    this.#iovecCount = 0;
    this.#messageCount = 0;
    for (let destination = 0; destination < this.#destinations; destination++) {
      let frame = this.#firstFrame[destination]!;
      while (frame !== NONE) frame = this.#addMessage(destination, frame);
    }
    this.#frames = 0;
    this.#destinations = 0;
    // Without it one lost batch is all that a system costs that cannot do it, or a way with a lower MTU.
    const supported = sendMessages(
      this.#fd,
      this.#messages,
      this.#messageCount,
      this.#counters,
      this.#datagrams,
    );
    if (!supported) this.#segments = false;
  }

  /** Makes a message of the frames from `frame` on. @returns The frame that the next one begins with. */
  #addMessage(destination: number, frame: number): number {
    const firstIovec = this.#iovecCount;
    let next = this.#addDatagram(frame, this.#mtu);
    const segment = this.#datagramLength;
    let length = segment;
    let segments = 1;
    while (
      this.#segments &&
      next !== NONE &&
      segment <= this.#mtu &&
      this.#frameLength[next]! <= segment &&
      segments < MAX_SEGMENTS &&
      length + segment <= MAX_MESSAGE
    ) {
      const missing = segment - this.#datagramLength;
      if (missing > 0) this.#addIovec(this.#padding.address, missing);
      next = this.#addDatagram(next, segment);
      length += segment;
      segments++;
    }
    const message = this.#messageCount++;
    this.#datagrams[message] = segments;
    const at = message * MESSAGE_WORDS;
    const { words } = this.#messages;
    setPointer(words, at + MESSAGE_NAME, this.#names.pointerTo(destination * NAME_WORDS));
    setPointer(words, at + MESSAGE_IOVECS, this.#iovecs.pointerTo(firstIovec * IOVEC_WORDS));
    words[at + MESSAGE_IOVEC_COUNT] = this.#iovecCount - firstIovec;
    if (segments > 1) {
      const control = message * CONTROL_WORDS;
      this.#controls.words[control + CONTROL_VALUE] = segment;
      setPointer(words, at + MESSAGE_CONTROL, this.#controls.pointerTo(control));
      words[at + MESSAGE_CONTROL_LENGTH] = CMSG_UINT16_SPACE;
    } else {
      setPointer(words, at + MESSAGE_CONTROL, 0);
      words[at + MESSAGE_CONTROL_LENGTH] = 0;
    }
    return next;
  }

  /** Joins frames from `frame` on, up to `limit` bytes or one frame. @returns The one after them. */
  #addDatagram(frame: number, limit: number): number {
    let length = 0;
    let next = frame;
    do {
      const frameLength = this.#frameLength[next]!;
      this.#addIovec(this.#framePointer[next]!, frameLength);
      length += frameLength;
      next = this.#frameNext[next]!;
    } while (next !== NONE && length + this.#frameLength[next]! <= limit);
    this.#datagramLength = length;
    return next;
  }

  #addIovec(pointer: number, length: number): void {
    const at = this.#iovecCount++ * IOVEC_WORDS;
    setPointer(this.#iovecs.words, at + IOVEC_BASE, pointer);
    this.#iovecs.words[at + IOVEC_SIZE] = length;
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
