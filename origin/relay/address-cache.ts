/** Addresses as text and as 16 bytes, remembered, since the system's interface speaks text. */
import { formatAddress, isMappedIPv4, parseAddress } from '../../protocol/address.ts';

/** Addresses remembered in each direction. */
export const ADDRESS_CACHE_SIZE = 65_536;

export class AddressCache {
  readonly #size: number;
  readonly #bytes = new Map<string, Uint8Array>();
  readonly #texts = new Map<number | string, string>();

  constructor(size = ADDRESS_CACHE_SIZE) {
    this.#size = size;
  }

  /** @throws Error when `text` is not an address. */
  bytesOf(text: string): Uint8Array {
    return this.#bytes.get(text) ?? this.#remember(this.#bytes, text, parseAddress(text));
  }

  /** The text of the 16 bytes at `at`. */
  textOf(bytes: Uint8Array, at: number): string {
    const key = isMappedIPv4(bytes, at) ? ipv4Key(bytes, at) : ipv6Key(bytes, at);
    return this.#texts.get(key) ?? this.#remember(this.#texts, key, formatAddress(bytes, at));
  }

  #remember<K, V>(map: Map<K, V>, key: K, value: V): V {
    if (map.size >= this.#size) {
      for (const oldest of map.keys()) {
        map.delete(oldest);
        break;
      }
    }
    map.set(key, value);
    return value;
  }
}

function ipv4Key(bytes: Uint8Array, at: number): number {
  return new DataView(bytes.buffer, bytes.byteOffset + at).getUint32(12);
}

function ipv6Key(bytes: Uint8Array, at: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + at, 16).toString('latin1');
}
