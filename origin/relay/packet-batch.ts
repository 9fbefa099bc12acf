/** Received packets as one receive call yields them: one slab of slots, and an array per property. */
import { ADDRESS_LENGTH } from '../../protocol/address.ts';
import { TRUNK_HEADER_LENGTH } from '../../protocol/trunk.ts';

/** Bytes of a slot, and so the largest datagram of the trunk. */
export const SLOT_LENGTH = 2048;

/** Largest packet of a client: its slot also holds the trunk header that goes in front of it. */
export const MAX_CLIENT_PACKET = SLOT_LENGTH - TRUNK_HEADER_LENGTH;

/** What {@link PacketBatch.socket} says of a packet from the trunk; all else is a listener's index. */
export const TRUNK_SOCKET = 255;

/** Packets `0` to `count - 1`. Filled by the I/O, lent to the forwarder until its flush. */
export class PacketBatch {
  readonly capacity: number;
  readonly bytes: Uint8Array;
  /** Offset in `bytes` of each packet's first byte; a client's packet has headroom before it. */
  readonly start: Uint32Array;
  /** Offset in `bytes` just behind each packet. */
  readonly end: Uint32Array;
  /** Source addresses, 16 bytes each. */
  readonly source: Uint8Array;
  readonly port: Uint16Array;
  readonly socket: Uint8Array;
  count = 0;

  constructor(capacity: number) {
    this.capacity = capacity;
    this.bytes = new Uint8Array(capacity * SLOT_LENGTH);
    this.start = new Uint32Array(capacity);
    this.end = new Uint32Array(capacity);
    this.source = new Uint8Array(capacity * ADDRESS_LENGTH);
    this.port = new Uint16Array(capacity);
    this.socket = new Uint8Array(capacity);
  }

  get full(): boolean {
    return this.count === this.capacity;
  }

  /** False, and nothing kept, when the packet does not fit its slot. The batch must not be full. */
  push(packet: Uint8Array, source: Uint8Array, port: number, socket: number): boolean {
    const headroom = socket === TRUNK_SOCKET ? 0 : TRUNK_HEADER_LENGTH;
    if (headroom + packet.length > SLOT_LENGTH) return false;
    const i = this.count++;
    const start = i * SLOT_LENGTH + headroom;
    this.bytes.set(packet, start);
    this.start[i] = start;
    this.end[i] = start + packet.length;
    this.source.set(source, i * ADDRESS_LENGTH);
    this.port[i] = port;
    this.socket[i] = socket;
    return true;
  }
}
