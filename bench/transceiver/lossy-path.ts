/** A UDP path that loses some packets and lets others overtake, each way and by chance. */
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import type { TrunkAddress } from '../../protocol/footprint.ts';
import type { RelayAddress } from '../../protocol/signature.ts';

const LOOPBACK = '127.0.0.1';

/** Most milliseconds that a packet is held so that later ones overtake it. */
const HELD = 60;

export class LossyPath implements AsyncDisposable {
  readonly #front: Socket;
  readonly #to: RelayAddress;
  readonly #loss: number;
  readonly #reordered: number;
  /** By the client's address and port: a socket of its own, so that the far side tells clients apart. */
  readonly #behind = new Map<string, Socket>();
  #open = true;

  private constructor(front: Socket, to: RelayAddress, loss: number, reordered: number) {
    this.#front = front;
    this.#to = to;
    this.#loss = loss;
    this.#reordered = reordered;
    front.on('message', (packet, client) => {
      this.#pass(() => this.#socketOf(client).send(packet, to.port, to.address));
    });
  }

  /** @param loss Share of packets lost. @param reordered Share of the others held back. */
  static async open(to: RelayAddress, loss: number, reordered: number): Promise<LossyPath> {
    const front = createSocket('udp4').bind(0, LOOPBACK);
    await once(front, 'listening');
    return new LossyPath(front, to, loss, reordered);
  }

  /** Where clients send to. */
  get candidate(): RelayAddress {
    return { ...this.#to, port: this.#front.address().port };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#open = false;
    const sockets = [this.#front, ...this.#behind.values()];
    await Promise.all(sockets.map((it) => new Promise<void>((done) => void it.close(done))));
  }

  #socketOf({ address, port }: TrunkAddress): Socket {
    const client = `${address} ${port}`;
    const known = this.#behind.get(client);
    if (known) return known;
    const socket = createSocket('udp4').bind(0, LOOPBACK);
    socket.on('message', (packet) => {
      this.#pass(() => this.#front.send(packet, port, address));
    });
    this.#behind.set(client, socket);
    return socket;
  }

  #pass(send: () => void): void {
    if (Math.random() < this.#loss) return;
    if (Math.random() >= this.#reordered) send();
    else setTimeout(() => this.#open && send(), Math.random() * HELD);
  }
}
