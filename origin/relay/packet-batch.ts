/** Received packets as one receive call yields them: one slab of slots, and an array per property. */
import { ADDRESS_LENGTH } from '../../protocol/address.ts';
import { TRUNK_HEADER_LENGTH } from '../../protocol/trunk.ts';

/** Largest packet of a client, in bytes: more than any path without jumbo frames carries. */
export const MAX_CLIENT_PACKET = 2008;

/** Largest datagram of the trunk: what a jumbo frame of 9000 bytes carries under IPv4. */
export const MAX_TRUNK_DATAGRAM = 8972;

/** What {@link PacketBatch.socket} says of a packet from the trunk; all else is a listener's index. */
export const TRUNK_SOCKET = 255;

/** The slots' distance: whole cache lines, so that trunk headers lie on whole words. */
const SLOT_ALIGNMENT = 64;

/** Packets `0` to `count - 1`. Filled by the I/O, lent to the forwarder until its flush. */
export class PacketBatch {
  readonly capacity: number;
  /** Bytes of a slot. */
  readonly slotLength: number;
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

  /** @param largest Bytes of the largest packet, headroom included. */
  constructor(capacity: number, largest = MAX_TRUNK_DATAGRAM) {
    this.capacity = capacity;
    this.slotLength = Math.ceil(largest / SLOT_ALIGNMENT) * SLOT_ALIGNMENT;
    this.bytes = new Uint8Array(capacity * this.slotLength);
    this.start = new Uint32Array(capacity);
    this.end = new Uint32Array(capacity);
    this.source = new Uint8Array(capacity * ADDRESS_LENGTH);
    this.port = new Uint16Array(capacity);
    this.socket = new Uint8Array(capacity);
  }

  get full(): boolean {
    return this.count === this.capacity;
  }

  /** False, and nothing kept, when the packet is too large. The batch must not be full. */
  push(packet: Uint8Array, source: Uint8Array, port: number, socket: number): boolean {
    const isTrunk = socket === TRUNK_SOCKET;
    if (packet.length > (isTrunk ? MAX_TRUNK_DATAGRAM : MAX_CLIENT_PACKET)) return false;
    const i = this.count++;
    const start = i * this.slotLength + (isTrunk ? 0 : TRUNK_HEADER_LENGTH);
    this.bytes.set(packet, start);
    this.start[i] = start;
    this.end[i] = start + packet.length;
    this.source.set(source, i * ADDRESS_LENGTH);
    this.port[i] = port;
    this.socket[i] = socket;
    return true;
  }
}
