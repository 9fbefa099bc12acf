/**
 * A relay reduced to its frames, for tests: what clients send it goes up the trunk to one transceiver,
 * what comes down goes to the client named in the frame. Tests listen in, hold back and inject.
 */
import { createSocket, type Socket } from 'node:dgram';
import { isIPv6 } from 'node:net';
import { parseAddress, formatAddress } from '../../../protocol/address.ts';
import type { TrunkAddress } from '../../../protocol/footprint.ts';
import type { RelayAddress } from '../../../protocol/signature.ts';
import {
  TRUNK_CLIENT,
  TRUNK_DOWN,
  TRUNK_HEADER_LENGTH,
  trunkClientPort,
  trunkFlags,
  trunkFrameEnd,
  writeTrunkHeader,
} from '../../../protocol/trunk.ts';

const LOOPBACK = '127.0.0.1';

export interface Passing {
  readonly direction: 'up' | 'down';
  readonly packet: Buffer;
  readonly client: TrunkAddress;
}

export class RelayShim {
  readonly #transceiver: TrunkAddress;
  readonly #public: Socket;
  #trunk: Socket;
  /** Every packet seen, in order; emptied by tests as they like. */
  readonly seen: Passing[] = [];
  /** False holds a packet back; by default all pass. */
  filter: (passing: Passing) => boolean = () => true;

  private constructor(transceiver: TrunkAddress, sockets: { public: Socket; trunk: Socket }) {
    this.#transceiver = transceiver;
    this.#public = sockets.public;
    this.#trunk = sockets.trunk;
    this.#public.on('message', (packet, { address, port }) =>
      this.#up({ direction: 'up', packet, client: { address, port } }),
    );
    this.#listen();
  }

  /** @param address Where clients reach it. */
  static async open(transceiver: TrunkAddress, address = LOOPBACK): Promise<RelayShim> {
    return new RelayShim(transceiver, { public: await bound(address), trunk: await bound() });
  }

  /** The candidate that brings clients here. */
  get candidate(): RelayAddress {
    return { ...this.#address, transport: 'udp' };
  }

  get #address(): TrunkAddress {
    const { address, port } = this.#public.address();
    return { address, port };
  }

  get trunk(): TrunkAddress {
    return { address: LOOPBACK, port: this.#trunk.address().port };
  }

  /** The addresses clients have sent from. */
  clients(): TrunkAddress[] {
    const all = this.seen.filter((it) => it.direction === 'up').map((it) => it.client);
    return [...new Map(all.map((it) => [it.port, it])).values()];
  }

  /** Sends a packet up as if `client` had sent it. */
  inject(packet: Uint8Array, client: TrunkAddress): void {
    const frame = Buffer.alloc(TRUNK_HEADER_LENGTH + packet.length);
    const { address, port } = this.trunk;
    const from = parseAddress(client.address);
    const proxy = parseAddress(address);
    writeTrunkHeader(frame, 0, 0, 0, packet.length, from, 0, client.port, proxy, 0, port);
    frame.set(packet, TRUNK_HEADER_LENGTH);
    this.injectRaw(frame);
  }

  /** Sends any bytes to the transceiver's trunk. */
  injectRaw(datagram: Uint8Array): void {
    this.#trunk.send(datagram, this.#transceiver.port, this.#transceiver.address);
  }

  /** Takes another trunk address, as a relay does that is replaced. */
  async move(): Promise<void> {
    const old = this.#trunk;
    this.#trunk = await bound();
    this.#listen();
    old.close();
  }

  async close(): Promise<void> {
    for (const socket of [this.#public, this.#trunk]) {
      await new Promise<void>((resolve) => socket.close(resolve));
    }
  }

  #listen(): void {
    this.#trunk.on('message', (datagram) => {
      for (let at = 0, next; at < datagram.length; at = next) {
        next = trunkFrameEnd(datagram, at, datagram.length);
        if (next < 0 || trunkFlags(datagram, at) !== TRUNK_DOWN)
          throw new Error('not a down frame');
        const address = formatAddress(datagram, at + TRUNK_CLIENT);
        const client = { address, port: trunkClientPort(datagram, at) };
        const packet = datagram.subarray(at + TRUNK_HEADER_LENGTH, next);
        const passing: Passing = { direction: 'down', packet, client };
        this.seen.push(passing);
        if (this.filter(passing)) this.#public.send(packet, client.port, client.address);
      }
    });
  }

  #up(passing: Passing): void {
    this.seen.push(passing);
    if (this.filter(passing)) this.inject(passing.packet, passing.client);
  }
}

async function bound(address = LOOPBACK): Promise<Socket> {
  const socket = createSocket(isIPv6(address) ? 'udp6' : 'udp4');
  await new Promise<void>((resolve) => socket.bind(0, address, resolve));
  return socket;
}
