/**
 * A stretch of network between UDP clients and one address: behind it each client has a socket of its own,
 * so that the far side tells clients apart, and what passes each way is up to whoever made it.
 */
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { LOOPBACK } from '../../local/ports.ts';
import type { TrunkAddress } from '../../protocol/footprint.ts';

/** Calls `pass` as often as the packet is to go on: at once, later, or not at all. */
export type Passage = (packet: Buffer, pass: () => void) => void;

export interface UdpPathOptions {
  /** From clients; everything passes unless given. */
  readonly up?: Passage;
  /** To clients; everything passes unless given. */
  readonly down?: Passage;
}

export class UdpPath implements AsyncDisposable {
  /** Where packets of clients go to. */
  to: TrunkAddress;
  readonly #front: Socket;
  readonly #up: Passage;
  readonly #down: Passage;
  /** By the client's address. */
  readonly #behind = new Map<string, Socket>();
  #isOpen = true;

  private constructor(front: Socket, to: TrunkAddress, { up = all, down = all }: UdpPathOptions) {
    this.#front = front;
    this.to = to;
    this.#up = up;
    this.#down = down;
    front.on('message', (packet, client) => {
      const { port, address } = this.to;
      this.#up(packet, () => this.#isOpen && this.#socketOf(client).send(packet, port, address));
    });
  }

  static async open(to: TrunkAddress, options: UdpPathOptions = {}): Promise<UdpPath> {
    const front = createSocket('udp4').bind(0, LOOPBACK);
    await once(front, 'listening');
    return new UdpPath(front, to, options);
  }

  /** Where clients send to. */
  get address(): TrunkAddress {
    const { address, port } = this.#front.address();
    return { address, port };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOpen = false;
    const sockets = [this.#front, ...this.#behind.values()];
    await Promise.all(sockets.map((it) => new Promise<void>((done) => void it.close(done))));
  }

  #socketOf({ address, port }: TrunkAddress): Socket {
    const client = `${address}:${port}`;
    const known = this.#behind.get(client);
    if (known) return known;
    const socket = createSocket('udp4').bind(0, LOOPBACK);
    socket.on('message', (packet) => {
      this.#down(packet, () => this.#isOpen && this.#front.send(packet, port, address));
    });
    this.#behind.set(client, socket);
    return socket;
  }
}

function all(_packet: Buffer, pass: () => void): void {
  pass();
}
