/**
 * Sockets that share one address by SO_REUSEPORT, of several threads and, while one process takes the
 * place of another, of both: which of them the system gives a datagram to.
 *
 * The choice is a program in the classic BPF of struct sock_filter, `code u16 | jump u8 | jump u8 |
 * operand u32`. It sees a datagram from its payload on, and gives the number of a socket in the order in
 * which they were bound. Where it names none, the system chooses by both addresses.
 */
import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { endianness } from 'node:os';
import { parseAddress } from '../../protocol/address.ts';
import type { TrunkAddress } from '../../protocol/footprint.ts';
import { TRUNK_CLIENT_PORT } from '../../protocol/trunk.ts';
import { NativeMemory, SOL_SOCKET, SO_ATTACH_REUSEPORT_CBPF, errorCode, libc } from './libc.ts';

const LOAD_HALF = 0x28;
const ADD = 0x04;
const MODULO = 0x94;
const RETURN_ACCUMULATOR = 0x16;

/** Offsets from here on count from the IP header. */
const IP_HEADER = 0xff_f0_00_00;
const IPV4_HEADER_LENGTH = 20;
const IPV6_HEADER_LENGTH = 40;

const INSTRUCTION_LENGTH = 8;
/** Of struct sock_fprog. */
const PROGRAM_LENGTH = 16;

/** A run of sockets by their numbers. */
export interface SocketRun {
  readonly first: number;
  readonly count: number;
}

/** What tells the clients of datagrams apart. */
export type SpreadBy = 'trunk-client' | 'ipv4-sender' | 'ipv6-sender';

/**
 * Spreads the datagrams of an address over some of the sockets that share it, by clients' ports. By
 * addresses, as is usual, all that one transceiver sends would come to one thread.
 *
 * @param fd Any of the sockets.
 */
export function spreadOver(fd: number, { first, count }: SocketRun, by: SpreadBy): void {
  const port = {
    'trunk-client': TRUNK_CLIENT_PORT,
    'ipv4-sender': IP_HEADER + IPV4_HEADER_LENGTH,
    'ipv6-sender': IP_HEADER + IPV6_HEADER_LENGTH,
  };
  const instructions = [
    [LOAD_HALF, port[by]],
    [MODULO, count],
    [ADD, first],
    [RETURN_ACCUMULATOR, 0],
  ] as const;
  const program = new NativeMemory(instructions.length * INSTRUCTION_LENGTH);
  const view = new DataView(program.buffer);
  for (const [i, [code, operand]] of instructions.entries()) {
    view.setUint16(i * INSTRUCTION_LENGTH, code, true);
    view.setUint32(i * INSTRUCTION_LENGTH + 4, operand, true);
  }
  const filter = new DataView(new ArrayBuffer(PROGRAM_LENGTH));
  filter.setUint16(0, instructions.length, true);
  filter.setBigUint64(8, BigInt(program.address), true);
  const { byteLength } = filter;
  if (libc().setsockopt(fd, SOL_SOCKET, SO_ATTACH_REUSEPORT_CBPF, filter, byteLength) < 0) {
    throw new Error(`Cannot spread datagrams over sockets: ${errorCode()}.`);
  }
}

/** How many UDP sockets of this network namespace are bound to just that address. */
export function countSockets({ address, port }: TrunkAddress): number {
  const ipv4 = isIP(address) === 4;
  const bytes = parseAddress(address).subarray(ipv4 ? 12 : 0);
  const name = `${hexWords(bytes)}:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const table = readFileSync(ipv4 ? '/proc/net/udp' : '/proc/net/udp6', 'latin1');
  return table.split('\n').filter((line) => line.trim().split(/\s+/)[1] === name).length;
}

/** As the system shows addresses: 32-bit words in its own byte order. */
function hexWords(bytes: Uint8Array): string {
  let text = '';
  for (let at = 0; at < bytes.length; at += 4) {
    const word = [...bytes.subarray(at, at + 4)];
    if (endianness() === 'LE') word.reverse();
    text += Buffer.from(word).toString('hex');
  }
  return text.toUpperCase();
}
