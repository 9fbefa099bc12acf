/** A client's UDP socket that keeps all it gets. */
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import type { TrunkAddress } from '../../protocol/footprint.ts';
import { LOOPBACK } from '../../local/ports.ts';

export class UdpClient implements AsyncDisposable {
  /** Whole datagrams in the order they came. */
  readonly received: Buffer[] = [];
  readonly #socket: Socket;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('message', (datagram) => this.received.push(datagram));
  }

  static async open(): Promise<UdpClient> {
    const socket = createSocket('udp4').bind(0, LOOPBACK);
    await once(socket, 'listening');
    return new UdpClient(socket);
  }

  get address(): TrunkAddress {
    const { address, port } = this.#socket.address();
    return { address, port };
  }

  async send(datagram: Uint8Array, to: TrunkAddress): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#socket.send(datagram, to.port, to.address, (error) =>
      error ? reject(error) : resolve(),
    );
    await promise;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#socket.close();
    await once(this.#socket, 'close');
  }
}
