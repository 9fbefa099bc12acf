/** A stretch of network between TCP clients and a server, which can break, aloud or in silence. */
import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { LOOPBACK } from '../../local/ports.ts';
import type { TrunkAddress } from '../../protocol/footprint.ts';

export class TcpPipe implements AsyncDisposable {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #pairs = new Set<readonly [Socket, Socket]>();
  #isCut = false;

  private constructor(server: Server, to: TrunkAddress) {
    this.#server = server;
    server.on('connection', (client) => {
      const upstream = connect({ host: to.address, port: to.port, noDelay: true });
      this.#hold(client);
      this.#hold(upstream);
      const pair = [client, upstream] as const;
      this.#pairs.add(pair);
      client.on('close', () => this.#pairs.delete(pair));
      if (!this.#isCut) client.pipe(upstream).pipe(client);
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

  /** From now on nothing goes through, and nobody is told. */
  cut(): void {
    this.#isCut = true;
    for (const [client, upstream] of this.#pairs) {
      client.unpipe(upstream).pause();
      upstream.unpipe(client).pause();
    }
  }

  /** What waited at the cut goes on. */
  mend(): void {
    this.#isCut = false;
    for (const [client, upstream] of this.#pairs) client.pipe(upstream).pipe(client);
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
