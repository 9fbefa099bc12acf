/** Stands where a cluster's tunnel does: takes the edge's requests to any transceiver that lives. */
import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import type { TrunkAddress } from '../../protocol/footprint.ts';

export class Tunnel implements AsyncDisposable {
  readonly #server: Server;
  readonly #origins: readonly TrunkAddress[];
  readonly #sockets = new Set<Socket>();
  #turn = 0;

  private constructor(server: Server, origins: readonly TrunkAddress[]) {
    this.#server = server;
    this.#origins = origins;
    server.on('connection', (socket) => void this.#pass(socket));
  }

  static async open(at: TrunkAddress, origins: readonly TrunkAddress[]): Promise<Tunnel> {
    const server = createServer({ noDelay: true, pauseOnConnect: true });
    server.listen(at.port, at.address);
    await once(server, 'listening');
    return new Tunnel(server, origins);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    await once(this.#server, 'close');
  }

  async #pass(client: Socket): Promise<void> {
    this.#hold(client);
    const first = this.#turn++;
    for (let i = 0; i < this.#origins.length; i++) {
      const origin = this.#origins[(first + i) % this.#origins.length]!;
      const upstream = connect({ host: origin.address, port: origin.port, noDelay: true });
      this.#hold(upstream);
      try {
        await once(upstream, 'connect');
      } catch {
        continue;
      }
      client.pipe(upstream).pipe(client);
      client.once('close', () => upstream.destroy());
      upstream.once('close', () => client.destroy());
      return;
    }
    client.resetAndDestroy();
  }

  #hold(socket: Socket): void {
    this.#sockets.add(socket);
    // The other end may break it.
    socket.on('error', () => {});
    socket.on('close', () => this.#sockets.delete(socket));
  }
}
