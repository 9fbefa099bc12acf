/** A set of IP networks, asked for every packet of the trunk. */
import ipaddr from 'ipaddr.js';
import { ADDRESS_LENGTH, parseAddress } from '../protocol/address.ts';

const IPV4_MAPPED_BITS = 96;

interface Network {
  readonly prefix: Uint8Array;
  readonly bits: number;
}

export class Networks {
  readonly #networks: readonly Network[];

  /**
   * @param cidrs As `10.0.0.0/8` or `fd00::/8`.
   * @throws Error that names the first one that is not a CIDR.
   */
  constructor(cidrs: readonly string[]) {
    this.#networks = cidrs.map(parseNetwork);
  }

  /** Whether the 16 bytes at `at` lie in one of the networks. */
  has(address: Uint8Array, at = 0): boolean {
    for (const network of this.#networks) if (within(network, address, at)) return true;
    return false;
  }
}

function parseNetwork(cidr: string): Network {
  if (!ipaddr.isValidCIDR(cidr)) {
    throw new Error(`"${cidr}" is not a network; write peers as 10.0.0.0/8 or fd00::/8.`);
  }
  const [address, bits] = ipaddr.parseCIDR(cidr);
  return {
    prefix: parseAddress(address.toString()),
    bits: address.kind() === 'ipv4' ? IPV4_MAPPED_BITS + bits : bits,
  };
}

function within({ prefix, bits }: Network, address: Uint8Array, at: number): boolean {
  for (let i = 0, left = bits; i < ADDRESS_LENGTH && left > 0; i++, left -= 8) {
    const mask = left >= 8 ? 0xff : (0xff00 >>> left) & 0xff;
    if (((prefix[i]! ^ address[at + i]!) & mask) !== 0) return false;
  }
  return true;
}
