/** Joins trunk frames for one destination into datagrams, within one batch. */
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
    // The newest datagram for a destination is the only one that may grow, or frames change order.
    const open = this.#pending.findLast(
      (one) => one.port === port && sameAddress(one.address, one.addressAt, address, addressAt),
    );
    if (open && open.length + frame.length <= this.#mtu) {
      open.frames.push(frame);
      open.length += frame.length;
    } else {
      this.#pending.push({ address, addressAt, port, frames: [frame], length: frame.length });
    }
  }

  flush(): void {
    const pending = this.#pending;
    this.#pending = [];
    for (const { frames, length, address, addressAt, port } of pending) {
      this.#send(Buffer.concat(frames, length), address, addressAt, port);
    }
  }
}
