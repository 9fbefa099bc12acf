/** Where the fields of the system's message structures lie, in words of 32 bits, and how to send them. */
import type { Counters } from './counters.ts';
import {
  CMSG_UINT16_SPACE,
  IOVEC_LENGTH,
  MMSGHDR_LENGTH,
  NativeMemory,
  libc,
  hadNoRoom,
  wasInterrupted,
  wasUnsupported,
} from './libc.ts';

/** Words of a struct mmsghdr, of an iovec, and of the room for one address. */
export const MESSAGE_WORDS = MMSGHDR_LENGTH / 4;
export const IOVEC_WORDS = IOVEC_LENGTH / 4;
export const NAME_WORDS = 8;
export const NAME_LENGTH = NAME_WORDS * 4;

/** Word offsets in a mmsghdr; a pointer or size_t takes two. */
export const MESSAGE_NAME = 0;
export const MESSAGE_NAME_LENGTH = 2;
export const MESSAGE_IOVECS = 4;
export const MESSAGE_IOVEC_COUNT = 6;
export const MESSAGE_CONTROL = 8;
export const MESSAGE_CONTROL_LENGTH = 10;
export const MESSAGE_FLAGS = 12;
export const MESSAGE_LENGTH = 14;

/** Word offsets in an iovec. */
export const IOVEC_BASE = 0;
export const IOVEC_SIZE = 2;

/** Words of a control message with 16 bits in it, and word offsets there. */
export const CONTROL_WORDS = CMSG_UINT16_SPACE / 4;
export const CONTROL_LENGTH = 0;
export const CONTROL_LEVEL = 2;
export const CONTROL_TYPE = 3;
export const CONTROL_VALUE = 4;

const HIGH_WORD = 2 ** 32;

/** Stores a pointer, little endian as both architectures are. */
export function setPointer(words: Uint32Array, at: number, pointer: number): void {
  words[at] = pointer;
  words[at + 1] = pointer / HIGH_WORD;
}

/** Memory seen as words, for structures the system reads and writes. */
export class NativeWords extends NativeMemory {
  readonly words: Uint32Array;

  constructor(count: number) {
    super(count * 4);
    this.words = new Uint32Array(this.buffer);
  }

  /** Where word `at` lies in the process. */
  pointerTo(at: number): number {
    return this.address + at * 4;
  }
}

/**
 * Sends `count` messages. What the system refuses is counted and left out, and the rest goes on.
 *
 * @param datagrams That the system makes of each message, where it is not one.
 * @returns False when one asked for what the system cannot do.
 */
export function sendMessages(
  fd: number,
  messages: NativeWords,
  count: number,
  counters: Counters,
  datagrams?: Uint8Array,
): boolean {
  const { sendmmsg } = libc();
  let supported = true;
  for (let sent = 0; sent < count;) {
    const done = sendmmsg(fd, messages.pointerTo(sent * MESSAGE_WORDS), count - sent, 0);
    if (done > 0) {
      sent += done;
    } else if (!wasInterrupted()) {
      const refused = datagrams ? datagrams[sent]! : 1;
      if (wasUnsupported()) supported = false;
      if (hadNoRoom()) counters.drop('queue-full', refused);
      else counters.sendError(refused);
      sent++;
    }
  }
  return supported;
}
