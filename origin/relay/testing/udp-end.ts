/** A plain UDP socket of a test: client, transceiver or stranger. */
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { isIP } from 'node:net';
import type { TrunkAddress } from '../../../protocol/footprint.ts';
import { readFrames, replyTo, type Frame } from './packets.ts';

export interface Datagram {
  readonly bytes: Buffer;
  readonly from: TrunkAddress;
}

export class UdpEnd {
  readonly #socket: Socket;
  readonly #received: Datagram[] = [];
  #closed = false;
  readonly #frames: { frame: Frame; from: TrunkAddress }[] = [];

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('message', (bytes, { address, port }) => {
      this.#received.push({ bytes, from: { address, port } });
      socket.emit('received');
    });
  }

  static async open(address = '127.0.0.1', port = 0): Promise<UdpEnd> {
    const socket = createSocket(isIP(address) === 4 ? 'udp4' : 'udp6');
    socket.bind(port, address);
    await once(socket, 'listening');
    return new UdpEnd(socket);
  }

  get address(): TrunkAddress {
    const { address, port } = this.#socket.address();
    return { address, port };
  }

  /** Datagrams that came and nobody has taken. */
  get waiting(): number {
    return this.#received.length + this.#frames.length;
  }

  send(bytes: Uint8Array, to: TrunkAddress): void {
    this.#socket.send(bytes, to.port, to.address);
  }

  async next(): Promise<Datagram> {
    while (this.#received.length === 0) await once(this.#socket, 'received');
    return this.#received.shift()!;
  }

  /** The next frame, when all that comes are trunk datagrams. */
  async nextFrame(): Promise<{ frame: Frame; from: TrunkAddress }> {
    while (this.#frames.length === 0) {
      const { bytes, from } = await this.next();
      this.#frames.push(...readFrames(bytes).map((frame) => ({ frame, from })));
    }
    return this.#frames.shift()!;
  }

  /** Takes the next frame and answers it as a transceiver does. */
  async answerNext(payload: (up: Frame) => Uint8Array): Promise<Frame> {
    const { frame, from } = await this.nextFrame();
    this.send(replyTo(frame, payload(frame)), from);
    return frame;
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await new Promise<void>((resolve) => this.#socket.close(() => resolve()));
  }
}
