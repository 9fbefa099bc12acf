/**
 * The C library's socket calls, for Linux on x64 and arm64, whose constants and struct layouts are the
 * same. Pointers are plain numbers: an address of a process fits 47 bits, and no call allocates.
 */
import koffi, { type KoffiFunc } from 'koffi';

export const AF_INET = 2;
export const AF_INET6 = 10;
export const SOCK_DGRAM = 2;
export const SOCK_NONBLOCK = 0o4000;
export const SOCK_CLOEXEC = 0o2000000;

export const SOL_SOCKET = 1;
export const SO_SNDBUF = 7;
export const SO_RCVBUF = 8;
export const SO_REUSEPORT = 15;
export const SO_SNDBUFFORCE = 32;
export const SO_RCVBUFFORCE = 33;
export const SO_ATTACH_REUSEPORT_CBPF = 51;
export const IPPROTO_IPV6 = 41;
export const IPV6_V6ONLY = 26;

export const SOL_UDP = 17;
export const UDP_SEGMENT = 103;

export const MSG_DONTWAIT = 0x40;
export const MSG_TRUNC = 0x20;
export const POLLIN = 1;
export const EFD_NONBLOCK = SOCK_NONBLOCK;
export const EFD_CLOEXEC = SOCK_CLOEXEC;

/**
 * Bytes of a struct msghdr with its length, of a control message with 16 bits in it, alone and with the
 * room it takes, of an iovec, of a pollfd, and of addresses.
 */
export const MMSGHDR_LENGTH = 64;
export const CMSG_UINT16_LENGTH = 18;
export const CMSG_UINT16_SPACE = 24;
export const IOVEC_LENGTH = 16;
export const POLLFD_LENGTH = 8;
export const SOCKADDR_IN_LENGTH = 16;
export const SOCKADDR_IN6_LENGTH = 28;

/** All return -1 on failure; {@link errorCode} then says why. */
export interface Libc {
  readonly socket: KoffiFunc<(family: number, type: number, protocol: number) => number>;
  readonly bind: KoffiFunc<(fd: number, address: Uint8Array, length: number) => number>;
  readonly getsockname: KoffiFunc<(fd: number, address: Uint8Array, length: Uint32Array) => number>;
  readonly setsockopt: KoffiFunc<
    (fd: number, level: number, option: number, value: ArrayBufferView, length: number) => number
  >;
  readonly recvmmsg: KoffiFunc<
    (fd: number, messages: number, count: number, flags: number, timeout: number) => number
  >;
  readonly sendmmsg: KoffiFunc<
    (fd: number, messages: number, count: number, flags: number) => number
  >;
  readonly poll: KoffiFunc<(fds: number, count: number, timeout: number) => number>;
  readonly eventfd: KoffiFunc<(value: number, flags: number) => number>;
  readonly read: KoffiFunc<(fd: number, bytes: Uint8Array, length: number) => number>;
  readonly write: KoffiFunc<(fd: number, bytes: Uint8Array, length: number) => number>;
  readonly close: KoffiFunc<(fd: number) => number>;
  readonly sched_getaffinity: KoffiFunc<
    (thread: number, length: number, cpus: Uint8Array) => number
  >;
  readonly sched_setaffinity: KoffiFunc<
    (thread: number, length: number, cpus: Uint8Array) => number
  >;
}

let loaded: Libc | undefined;

/** @throws Error where the library lacks one of the calls, as everywhere but on Linux. */
export function libc(): Libc {
  if (loaded) return loaded;
  // The C library that Node itself runs on, glibc or musl.
  const library = koffi.load(null);
  loaded = {
    socket: library.func('int socket(int, int, int)'),
    bind: library.func('int bind(int, void *, uint32_t)'),
    getsockname: library.func('int getsockname(int, void *, void *)'),
    setsockopt: library.func('int setsockopt(int, int, int, void *, uint32_t)'),
    recvmmsg: library.func('int recvmmsg(int, uint64_t, uint32_t, int, uint64_t)'),
    sendmmsg: library.func('int sendmmsg(int, uint64_t, uint32_t, int)'),
    poll: library.func('int poll(uint64_t, unsigned long, int)'),
    eventfd: library.func('int eventfd(uint32_t, int)'),
    read: library.func('intptr_t read(int, void *, size_t)'),
    write: library.func('intptr_t write(int, void *, size_t)'),
    close: library.func('int close(int)'),
    sched_getaffinity: library.func('int sched_getaffinity(int, size_t, void *)'),
    sched_setaffinity: library.func('int sched_setaffinity(int, size_t, void *)'),
  };
  return loaded;
}

/** Whether the batched back end can run here. */
export function hasBatchedCalls(): boolean {
  if (process.platform !== 'linux' || !['x64', 'arm64'].includes(process.arch)) return false;
  try {
    libc();
    return true;
  } catch {
    return false;
  }
}

/** The name of the last failed call's error, as `EAGAIN`. */
export function errorCode(): string {
  const number = koffi.errno();
  const found = Object.entries(koffi.os.errno).find(([, value]) => value === number);
  return found?.[0] ?? `error ${number}`;
}

/** Whether the last failed call was only interrupted and is to be made again. */
export function wasInterrupted(): boolean {
  return koffi.errno() === koffi.os.errno.EINTR;
}

/** Whether the last failed call found the socket's buffer, or a queue of the system, full. */
export function hadNoRoom(): boolean {
  const { EAGAIN, ENOBUFS } = koffi.os.errno;
  return koffi.errno() === EAGAIN || koffi.errno() === ENOBUFS;
}

/** Whether the last failed call asked for what the system, or the way to that address, cannot do. */
export function wasUnsupported(): boolean {
  const { EINVAL, EIO } = koffi.os.errno;
  return koffi.errno() === EINVAL || koffi.errno() === EIO;
}

/** Memory that the system may be pointed to: its bytes never move. */
export class NativeMemory {
  readonly buffer: ArrayBuffer;
  /** Where it lies in the process. */
  readonly address: number;

  /** @param length In bytes. */
  constructor(length: number) {
    this.buffer = new ArrayBuffer(length);
    this.address = addressOf(this.buffer);
  }
}

/** Where a buffer's bytes lie; the caller keeps it reachable for as long as the system may use it. */
export function addressOf(buffer: ArrayBufferLike): number {
  return Number(koffi.address(buffer));
}
