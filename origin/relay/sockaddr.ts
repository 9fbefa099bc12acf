/** Socket addresses as the system has them, from and to 16 bytes and a port. */
import { AF_INET, AF_INET6, SOCKADDR_IN6_LENGTH, SOCKADDR_IN_LENGTH } from './libc.ts';

/** Offsets in a struct sockaddr_in and sockaddr_in6; the family is in the host's order. */
const PORT = 2;
const IPV4_ADDRESS = 4;
const IPV6_ADDRESS = 8;

/** Where the four bytes of a mapped IPv4 address stand among 16. */
const IPV4_PART = 12;

export function sockaddrLength(ipv4: boolean): number {
  return ipv4 ? SOCKADDR_IN_LENGTH : SOCKADDR_IN6_LENGTH;
}

/** Prepares the room of one address, whose family then never changes. */
export function initSockaddr(bytes: Uint8Array, at: number, ipv4: boolean): void {
  bytes[at] = ipv4 ? AF_INET : AF_INET6;
}

/** Fills in a prepared address; `address` must be of its family. */
export function setSockaddr(
  bytes: Uint8Array,
  at: number,
  ipv4: boolean,
  address: Uint8Array,
  addressAt: number,
  port: number,
): void {
  bytes[at + PORT] = port >>> 8;
  bytes[at + PORT + 1] = port;
  if (ipv4) {
    const from = addressAt + IPV4_PART;
    const to = at + IPV4_ADDRESS;
    bytes[to] = address[from]!;
    bytes[to + 1] = address[from + 1]!;
    bytes[to + 2] = address[from + 2]!;
    bytes[to + 3] = address[from + 3]!;
  } else {
    for (let i = 0; i < 16; i++) bytes[at + IPV6_ADDRESS + i] = address[addressAt + i]!;
  }
}

export function sockaddrPort(bytes: Uint8Array, at: number): number {
  return (bytes[at + PORT]! << 8) | bytes[at + PORT + 1]!;
}

/** Copies the address to 16 bytes. */
export function sockaddrAddress(
  bytes: Uint8Array,
  at: number,
  ipv4: boolean,
  out: Uint8Array,
  outAt: number,
): void {
  if (!ipv4) {
    for (let i = 0; i < 16; i++) out[outAt + i] = bytes[at + IPV6_ADDRESS + i]!;
    return;
  }
  for (let i = 0; i < IPV4_PART - 2; i++) out[outAt + i] = 0;
  out[outAt + IPV4_PART - 2] = 0xff;
  out[outAt + IPV4_PART - 1] = 0xff;
  for (let i = 0; i < 4; i++) out[outAt + IPV4_PART + i] = bytes[at + IPV4_ADDRESS + i]!;
}
