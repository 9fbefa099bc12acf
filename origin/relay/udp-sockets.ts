/** The sockets of the batched back end: opened by the main thread, one set for each relay thread. */
import { isIP } from 'node:net';
import { formatAddress } from '../../protocol/address.ts';
import { parseAddress } from '../../protocol/address.ts';
import type { TrunkAddress } from '../../protocol/footprint.ts';
import { bindError } from '../bind-error.ts';
import { requireListeners, type IoOptions } from './io.ts';
import {
  AF_INET,
  AF_INET6,
  IPPROTO_IPV6,
  IPV6_V6ONLY,
  SOCKADDR_IN6_LENGTH,
  SOCK_CLOEXEC,
  SOCK_DGRAM,
  SOCK_NONBLOCK,
  SOL_SOCKET,
  SO_RCVBUF,
  SO_RCVBUFFORCE,
  SO_REUSEPORT,
  SO_SNDBUF,
  SO_SNDBUFFORCE,
  errorCode,
  libc,
} from './libc.ts';
import { countSockets, spreadOver } from './port-sharing.ts';
import {
  initSockaddr,
  setSockaddr,
  sockaddrAddress,
  sockaddrLength,
  sockaddrPort,
} from './sockaddr.ts';

/** Bytes asked for each socket's buffers; without privileges a system grants what its limits allow. */
const SOCKET_BUFFER = 8 * 1024 * 1024;

/** A socket and what is constant about it. */
export interface UdpSocket {
  readonly fd: number;
  readonly ipv4: boolean;
}

/** The sockets of one thread. */
export interface SocketSet {
  readonly listeners: readonly UdpSocket[];
  readonly trunk: UdpSocket;
}

/** The sockets of all threads, on the same addresses. */
export interface SocketSets {
  readonly listeners: readonly TrunkAddress[];
  readonly trunk: TrunkAddress;
  readonly sets: readonly SocketSet[];
  /**
   * From now on what comes to the addresses comes to these sockets, and no more to those of the process
   * that had them; until then it is the other way round. To be called of sockets opened beside others.
   */
  readonly takeOver: () => void;
}

/** @throws Error that names the address and what to do, when one cannot be bound; none stays open. */
export function openSocketSets(options: IoOptions, count: number): SocketSets {
  requireListeners(options);
  const { beside = false } = options;
  const opened: UdpSocket[] = [];
  const open = (address: TrunkAddress, shares: boolean): UdpSocket => {
    const socket = openSocket(address, shares);
    opened.push(socket);
    return socket;
  };
  const takeOvers: (() => void)[] = [];
  const openFirst = (wanted: TrunkAddress, isTrunk: boolean): UdpSocket => {
    const others = beside ? countSockets(wanted) : 0;
    const socket = open(wanted, others > 0);
    const by = isTrunk ? 'trunk-client' : socket.ipv4 ? 'ipv4-sender' : 'ipv6-sender';
    if (others > 0) {
      // Nobody reads the new ones yet.
      spreadOver(socket.fd, { first: 0, count: others }, by);
      takeOvers.push(() => spreadOver(socket.fd, { first: others, count }, by));
    }
    return socket;
  };
  try {
    const first = {
      listeners: options.listeners.map((address) => openFirst(address, false)),
      trunk: openFirst(options.trunk, true),
    };
    const listeners = first.listeners.map(boundAddress);
    const trunk = boundAddress(first.trunk);
    const others = Array.from({ length: count - 1 }, () => ({
      listeners: listeners.map((address) => open(address, true)),
      trunk: open(trunk, true),
    }));
    if (count > 1 && takeOvers.length === 0) {
      spreadOver(first.trunk.fd, { first: 0, count }, 'trunk-client');
    }
    const takeOver = (): void => takeOvers.forEach((take) => take());
    return { listeners, trunk, sets: [first, ...others], takeOver };
  } catch (error) {
    opened.forEach(closeSocket);
    throw error;
  }
}

export function closeSocketSet({ listeners, trunk }: SocketSet): void {
  for (const socket of [...listeners, trunk]) closeSocket(socket);
}

function closeSocket({ fd }: UdpSocket): void {
  libc().close(fd);
}

/** @param shares Whether it is to share the address with sockets that hold it already. */
function openSocket({ address, port }: TrunkAddress, shares: boolean): UdpSocket {
  const family = isIP(address);
  if (family === 0) throw new Error(`"${address}" is not an IP address; a relay binds to one.`);
  const ipv4 = family === 4;
  const fd = libc().socket(ipv4 ? AF_INET : AF_INET6, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) throw bindError(errorCode(), address, port);
  const socket = { fd, ipv4 };
  // An IPv6 socket must not also take IPv4 packets: there is a listener of its own for them.
  if (!ipv4) setOption(socket, IPPROTO_IPV6, IPV6_V6ONLY, 1);
  if (shares) setOption(socket, SOL_SOCKET, SO_REUSEPORT, 1);
  const name = new Uint8Array(SOCKADDR_IN6_LENGTH);
  initSockaddr(name, 0, ipv4);
  setSockaddr(name, 0, ipv4, parseAddress(address), 0, port);
  if (libc().bind(fd, name, sockaddrLength(ipv4)) < 0) {
    const error = bindError(errorCode(), address, port);
    closeSocket(socket);
    throw error;
  }
  // Only now, or a port that another process shares would seem free.
  if (!shares) setOption(socket, SOL_SOCKET, SO_REUSEPORT, 1);
  growBuffer(socket, SO_RCVBUFFORCE, SO_RCVBUF);
  growBuffer(socket, SO_SNDBUFFORCE, SO_SNDBUF);
  return socket;
}

function setOption({ fd }: UdpSocket, level: number, option: number, value: number): boolean {
  return libc().setsockopt(fd, level, option, Int32Array.of(value), 4) === 0;
}

/** The forced option goes beyond the system's limit, and needs CAP_NET_ADMIN. */
function growBuffer(socket: UdpSocket, forced: number, usual: number): void {
  if (!setOption(socket, SOL_SOCKET, forced, SOCKET_BUFFER)) {
    setOption(socket, SOL_SOCKET, usual, SOCKET_BUFFER);
  }
}

function boundAddress({ fd, ipv4 }: UdpSocket): TrunkAddress {
  const name = new Uint8Array(SOCKADDR_IN6_LENGTH);
  libc().getsockname(fd, name, Uint32Array.of(name.length));
  const address = new Uint8Array(16);
  sockaddrAddress(name, 0, ipv4, address, 0);
  return { address: formatAddress(address), port: sockaddrPort(name, 0) };
}
