/** An address that sends back all it gets, and notes where that came from. */
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { LOOPBACK } from '../../local/ports.ts';
import type { TrunkAddress } from '../../protocol/footprint.ts';

export class UdpEcho implements AsyncDisposable {
  /** `ADDRESS:PORT` of each sender, in the order of their first packets. */
  readonly sources = new Set<string>();
  readonly #socket: Socket;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('message', (packet, { address, port }) => {
      this.sources.add(`${address}:${port}`);
      socket.send(packet, port, address);
    });
  }

  static async open(): Promise<UdpEcho> {
    const socket = createSocket('udp4').bind(0, LOOPBACK);
    await once(socket, 'listening');
    return new UdpEcho(socket);
  }

  get address(): TrunkAddress {
    const { address, port } = this.#socket.address();
    return { address, port };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#socket.close();
    await once(this.#socket, 'close');
  }
}
