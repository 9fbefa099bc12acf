/** A NAT before a relay, for tests: clients send to it, and it can give them another port at any time. */
import { createSocket, type Socket } from 'node:dgram';
import type { RelayAddress } from '../../../protocol/signature.ts';

const LOOPBACK = '127.0.0.1';

export class Nat implements AsyncDisposable {
  readonly #relay: RelayAddress;
  readonly #inside: Socket;
  readonly #outside: Socket[] = [];
  #client: { readonly address: string; readonly port: number } | undefined;

  private constructor(relay: RelayAddress, inside: Socket) {
    this.#relay = relay;
    this.#inside = inside;
    inside.on('message', (packet, { address, port }) => {
      this.#client = { address, port };
      this.#outside.at(-1)!.send(packet, relay.port, relay.address);
    });
  }

  static async open(relay: RelayAddress): Promise<Nat> {
    const nat = new Nat(relay, await bound());
    await nat.rebind();
    return nat;
  }

  /** The candidate that brings clients through it. */
  get candidate(): RelayAddress {
    return { ...this.#relay, port: this.#inside.address().port };
  }

  /** The port that it gives to the client now. */
  get port(): number {
    return this.#outside.at(-1)!.address().port;
  }

  /** Sends from another port from now on; what still comes to those before is let in. */
  async rebind(): Promise<void> {
    const socket = await bound();
    socket.on('message', (packet) => {
      if (this.#client) this.#inside.send(packet, this.#client.port, this.#client.address);
    });
    this.#outside.push(socket);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of [this.#inside, ...this.#outside]) {
      await new Promise<void>((resolve) => socket.close(resolve));
    }
  }
}

async function bound(): Promise<Socket> {
  const socket = createSocket('udp4');
  await new Promise<void>((resolve) => socket.bind(0, LOOPBACK, resolve));
  return socket;
}
