/**
 * Where a fuzzed relay sends to: holds every packet against what came in. A relay sends nothing on its
 * own account, nothing twice, nothing changed, and nothing to where it was not told to.
 */
import { ADDRESS_LENGTH, isMappedIPv4 } from '../../../protocol/address.ts';
import {
  TRUNK_CLIENT,
  TRUNK_DOWN,
  TRUNK_HEADER_LENGTH,
  TRUNK_LISTENER,
  TRUNK_PASSED,
  TRUNK_PROXY,
  trunkClientPort,
  trunkFlags,
  trunkFrameEnd,
  trunkProxyPort,
  writeTrunkHeader,
} from '../../../protocol/trunk.ts';
import { sameAddress } from '../bytes.ts';
import type { PacketSink } from '../io.ts';
import type { Hop } from '../next-hop.ts';
import { TRUNK_SOCKET, type PacketBatch } from '../packet-batch.ts';
import type { HeldLedger } from './held-ledger.ts';

/** What the relay was told. */
export interface FuzzWorld {
  readonly self: Hop;
  /** For each listener, whether it is of IPv4. */
  readonly ipv4Listeners: readonly boolean[];
  /** Transceivers as they are placed now. */
  readonly transceivers: ReadonlyMap<number, Hop>;
  /** Relays of other regions. */
  readonly relays: readonly Hop[];
  isPeer(address: Uint8Array, at: number): boolean;
}

export class FuzzSink implements PacketSink {
  /** Packets sent in all. */
  sent = 0;
  readonly #world: FuzzWorld;
  readonly #ledger: HeldLedger;
  readonly #onUp: (frame: Uint8Array, start: number, end: number) => void;
  readonly #header = Buffer.alloc(TRUNK_HEADER_LENGTH);
  #batch: PacketBatch;
  /** The batch's bytes as they came. */
  #came: Buffer;
  /** Where in the batch the last packet sent began: what is sent keeps the order of what came. */
  #last = -1;
  /** Starts and ends of payloads that wait for the flush. */
  readonly #waiting: number[] = [];

  constructor(
    world: FuzzWorld,
    batch: PacketBatch,
    ledger: HeldLedger,
    onUp: (frame: Uint8Array, start: number, end: number) => void,
  ) {
    this.#world = world;
    this.#batch = batch;
    this.#ledger = ledger;
    this.#onUp = onUp;
    this.#came = Buffer.from(batch.bytes);
  }

  /** To be called before each batch is forwarded. */
  expect(batch: PacketBatch): void {
    this.#batch = batch;
    this.#last = -1;
    for (let i = 0; i < batch.count; i++) {
      const [start, end] = [batch.start[i]!, batch.end[i]!];
      this.#came.set(batch.bytes.subarray(start, end), start);
    }
  }

  sendPublic(
    listener: number,
    data: Uint8Array,
    start: number,
    end: number,
    address: Uint8Array,
    addressAt: number,
    port: number,
  ): void {
    const at = start - TRUNK_HEADER_LENGTH;
    const came = this.#frameThatCame(data, at, end);
    this.#require((trunkFlags(came, at) & TRUNK_DOWN) !== 0, 'an up frame to a client');
    this.#require(this.#isSelf(came, at), 'a reply of another relay to a client');
    this.#require(came[at + TRUNK_LISTENER] === listener, 'from another listener');
    const isThere = sameAddress(came, at + TRUNK_CLIENT, address, addressAt);
    this.#require(isThere && trunkClientPort(came, at) === port, 'to another client');
    this.#require(port !== 0, 'to port 0');
    const ipv4 = this.#world.ipv4Listeners[listener];
    this.#require(isMappedIPv4(address, addressAt) === ipv4, 'to an address of another family');
    this.#waiting.push(start, end);
  }

  sendTrunk(
    data: Uint8Array,
    start: number,
    end: number,
    address: Uint8Array,
    addressAt: number,
    port: number,
  ): void {
    if (data !== this.#batch.bytes) {
      this.sent++;
      this.#require(start === 0 && end === data.length, 'part of a held packet');
      this.#require(this.#ledger.take(data), 'a packet that was not held');
      this.#requireUp(data, 0, address, addressAt, port);
      return;
    }
    if (this.#slotOf(start + TRUNK_HEADER_LENGTH).socket !== TRUNK_SOCKET) {
      this.#requireClients(data, start, end);
      this.#requireUp(data, start, address, addressAt, port);
      this.#onUp(data, start, end);
    } else {
      const came = this.#frameThatCame(data, start, end);
      const flags = trunkFlags(came, start);
      this.#require((flags & TRUNK_PASSED) === 0, 'a frame that had been passed on');
      this.#require(trunkFlags(data, start) === (flags | TRUNK_PASSED), 'with other flags');
      if ((flags & TRUNK_DOWN) === 0) this.#requireUp(data, start, address, addressAt, port);
      else this.#requireProxy(came, start, address, addressAt, port);
    }
    this.#waiting.push(start + TRUNK_HEADER_LENGTH, end);
  }

  flush(): void {
    const { bytes } = this.#batch;
    for (let i = 0; i < this.#waiting.length; i += 2) {
      const [start, end] = [this.#waiting[i]!, this.#waiting[i + 1]!];
      const isSame = this.#came.compare(bytes, start, end, start, end) === 0;
      this.#require(isSame, 'a payload that is not as it came');
    }
    this.#waiting.length = 0;
  }

  /** The packet of a client that the frame holds is whole, and its header tells whose it is. */
  #requireClients(data: Uint8Array, start: number, end: number): void {
    const { i, socket } = this.#slotOf(start + TRUNK_HEADER_LENGTH);
    const { batch, self } = { batch: this.#batch, self: this.#world.self };
    this.#advance(start);
    const payload = start + TRUNK_HEADER_LENGTH;
    this.#require(batch.start[i] === payload && batch.end[i] === end, 'part of a packet');
    const client = i * ADDRESS_LENGTH;
    const port = batch.port[i]!;
    const header = this.#header;
    const length = end - payload;
    const proxy = self.address;
    writeTrunkHeader(header, 0, 0, socket, length, batch.source, client, port, proxy, 0, self.port);
    const isSame = header.compare(data, start, payload) === 0;
    this.#require(isSame, 'with a header that is not the client’s');
  }

  /** To a transceiver, or from a client of this relay also to another region. */
  #requireUp(
    data: Uint8Array,
    start: number,
    address: Uint8Array,
    addressAt: number,
    port: number,
  ): void {
    const { transceivers, relays } = this.#world;
    const isThere = (hop: Hop): boolean =>
      hop.port === port && sameAddress(hop.address, 0, address, addressAt);
    const fromPeer = (trunkFlags(data, start) & TRUNK_PASSED) !== 0;
    const isKnown =
      transceivers.values().some(isThere) || (!fromPeer && relays.some((relay) => isThere(relay)));
    this.#require(isKnown, 'up to a stranger');
  }

  #requireProxy(
    came: Buffer,
    start: number,
    address: Uint8Array,
    addressAt: number,
    port: number,
  ): void {
    const isThere = sameAddress(came, start + TRUNK_PROXY, address, addressAt);
    this.#require(isThere && port === trunkProxyPort(came, start), 'to another proxy');
    this.#require(port !== 0 && this.#world.isPeer(address, addressAt), 'to a foreign proxy');
    this.#require(!this.#isSelf(came, start), 'to itself');
  }

  /** The bytes in which the frame from `at` to `end` came, from a peer and whole. */
  #frameThatCame(data: Uint8Array, at: number, end: number): Buffer {
    this.#require(data === this.#batch.bytes, 'a packet that did not come');
    const { i, socket } = this.#slotOf(at);
    this.#advance(at);
    this.#require(socket === TRUNK_SOCKET, 'a frame of a client');
    this.#require(this.#world.isPeer(this.#batch.source, i * ADDRESS_LENGTH), 'for a stranger');
    let frame = this.#batch.start[i]!;
    while (frame >= 0 && frame < at) frame = trunkFrameEnd(this.#came, frame, this.#batch.end[i]!);
    this.#require(frame === at, 'from within a frame');
    const next = trunkFrameEnd(this.#came, at, this.#batch.end[i]!);
    this.#require(next === end, 'part of a frame');
    const isSame = this.#came.compare(data, at + 1, end, at + 1, end) === 0;
    this.#require(isSame, 'a frame that is not as it came');
    return this.#came;
  }

  #slotOf(start: number): { i: number; socket: number } {
    const i = Math.floor(start / this.#batch.slotLength);
    this.#require(i >= 0 && i < this.#batch.count, 'a packet that did not come');
    return { i, socket: this.#batch.socket[i]! };
  }

  #advance(start: number): void {
    this.sent++;
    this.#require(start > this.#last, 'a packet twice, or out of order');
    this.#last = start;
  }

  #isSelf(bytes: Uint8Array, at: number): boolean {
    const { address, port } = this.#world.self;
    return trunkProxyPort(bytes, at) === port && sameAddress(bytes, at + TRUNK_PROXY, address, 0);
  }

  #require(holds: boolean, what: string): void {
    if (!holds) throw new Error(`The relay sent ${what}.`);
  }
}
