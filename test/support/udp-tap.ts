/** A stretch of network between UDP clients and a relay, which can swallow connectivity checks. */
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { LOOPBACK } from '../../local/ports.ts';
import type { TrunkAddress } from '../../protocol/footprint.ts';

/** RFC 8489 §5: the type of a Binding request. */
const BINDING_REQUEST = 0x0001;

export class UdpTap implements AsyncDisposable {
  /** Whether checks of clients go on to the relay; those that do not are lost. */
  passesChecks = true;
  readonly #socket: Socket;
  readonly #relay: TrunkAddress;
  /** The relay sees each client at an address of its own. */
  readonly #clients = new Map<string, Socket>();

  private constructor(socket: Socket, relay: TrunkAddress) {
    this.#socket = socket;
    this.#relay = relay;
    socket.on('message', (datagram, client) => {
      const isCheck = datagram.length >= 2 && datagram.readUInt16BE(0) === BINDING_REQUEST;
      if (!isCheck || this.passesChecks) this.#forward(datagram, client);
    });
  }

  static async open(relay: TrunkAddress): Promise<UdpTap> {
    const socket = createSocket('udp4').bind(0, LOOPBACK);
    await once(socket, 'listening');
    return new UdpTap(socket, relay);
  }

  get address(): TrunkAddress {
    const { address, port } = this.#socket.address();
    return { address, port };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const sockets = [this.#socket, ...this.#clients.values()];
    await Promise.all(
      sockets.map((socket) => new Promise<void>((closed) => socket.close(() => closed()))),
    );
  }

  #forward(datagram: Buffer, client: TrunkAddress): void {
    const name = `${client.address} ${client.port}`;
    const upstream = this.#clients.get(name) ?? this.#openUpstream(name, client);
    upstream.send(datagram, this.#relay.port, this.#relay.address);
  }

  #openUpstream(name: string, client: TrunkAddress): Socket {
    const upstream = createSocket('udp4');
    upstream.on('message', (datagram) => {
      this.#socket.send(datagram, client.port, client.address);
    });
    this.#clients.set(name, upstream);
    return upstream;
  }
}
