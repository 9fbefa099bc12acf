/** Joins trunk frames for one destination into datagrams, within one batch. */
import { ADDRESS_LENGTH } from '../../protocol/address.ts';
import { sameAddress } from './bytes.ts';

/** Sends one datagram that a callee may keep. */
export type SendDatagram = (
  datagram: Uint8Array,
  address: Uint8Array,
  addressAt: number,
  port: number,
) => void;

interface Pending {
  readonly address: Uint8Array;
  readonly addressAt: number;
  readonly port: number;
  readonly frames: Uint8Array[];
  length: number;
}

export class TrunkOutbox {
  readonly #mtu: number;
  readonly #send: SendDatagram;
  #pending: Pending[] = [];
  /** The newest datagram of each destination: only it may grow, or frames change their order. */
  readonly #newest = new Map<number, Pending>();

  /** @param mtu Largest datagram that frames are joined into, in bytes of UDP payload. */
  constructor(mtu: number, send: SendDatagram) {
    this.#mtu = mtu;
    this.#send = send;
  }

  /** Takes a view of the bytes, which are read at the flush. */
  add(
    data: Uint8Array,
    start: number,
    end: number,
    address: Uint8Array,
    addressAt: number,
    port: number,
  ): void {
    const frame = data.subarray(start, end);
    const name = nameOf(address, addressAt, port);
    const newest = this.#newest.get(name);
    if (
      newest &&
      newest.length + frame.length <= this.#mtu &&
      sameAddress(newest.address, newest.addressAt, address, addressAt)
    ) {
      newest.frames.push(frame);
      newest.length += frame.length;
      return;
    }
    const pending = { address, addressAt, port, frames: [frame], length: frame.length };
    this.#pending.push(pending);
    this.#newest.set(name, pending);
  }

  flush(): void {
    const pending = this.#pending;
    this.#pending = [];
    this.#newest.clear();
    for (const { frames, length, address, addressAt, port } of pending) {
      this.#send(Buffer.concat(frames, length), address, addressAt, port);
    }
  }
}

/** Port and end of the address, exact for IPv4: those that share one are joined less. */
function nameOf(address: Uint8Array, addressAt: number, port: number): number {
  let name = port;
  for (let i = ADDRESS_LENGTH - 4; i < ADDRESS_LENGTH; i++)
    name = name * 256 + address[addressAt + i]!;
  return name;
}
