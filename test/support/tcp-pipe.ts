/** A stretch of network between TCP clients and a server, which can break. */
import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { LOOPBACK } from '../../local/ports.ts';
import type { TrunkAddress } from '../../protocol/footprint.ts';

export class TcpPipe implements AsyncDisposable {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor(server: Server, to: TrunkAddress) {
    this.#server = server;
    server.on('connection', (client) => {
      const upstream = connect({ host: to.address, port: to.port, noDelay: true });
      this.#hold(client);
      this.#hold(upstream);
      client.pipe(upstream).pipe(client);
    });
  }

  static async open(to: TrunkAddress): Promise<TcpPipe> {
    const server = createServer({ noDelay: true }).listen(0, LOOPBACK);
    await once(server, 'listening');
    return new TcpPipe(server, to);
  }

  get address(): TrunkAddress {
    const bound = this.#server.address();
    if (bound === null || typeof bound === 'string') throw new Error('The pipe has no port.');
    return { address: bound.address, port: bound.port };
  }

  /** Breaks all connections there are; new ones are let through. */
  break(): void {
    for (const socket of this.#sockets) socket.resetAndDestroy();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.close();
    this.break();
    await once(this.#server, 'close');
  }

  #hold(socket: Socket): void {
    this.#sockets.add(socket);
    // The other end may break it too.
    socket.on('error', () => {});
    socket.on('close', () => this.#sockets.delete(socket));
  }
}
