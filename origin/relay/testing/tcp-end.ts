/** A TCP client of a test, which speaks in frames or as it likes. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import type { TrunkAddress } from '../../../protocol/footprint.ts';
import { FrameReader, frame } from '../rfc4571.ts';

const LARGEST_PACKET = 65_535;

export class TcpEnd {
  /** Of the client itself; port 0 when it was refused. */
  readonly address: TrunkAddress;
  readonly #socket: Socket;
  readonly #received: Buffer[] = [];
  #isOver: boolean;

  private constructor(socket: Socket) {
    const { localAddress = '', localPort = 0 } = socket;
    this.address = { address: localAddress, port: localPort };
    this.#socket = socket;
    this.#isOver = socket.destroyed;
    const reader = new FrameReader(LARGEST_PACKET);
    socket.on('data', (chunk) => {
      reader.read(chunk, (packet) => this.#received.push(Buffer.from(packet)));
      socket.emit('received');
    });
    socket.on('error', () => {});
    socket.on('close', () => {
      this.#isOver = true;
      socket.emit('received');
    });
  }

  /** Ends with the test. @param from The client's address. */
  static async open(to: TrunkAddress, from?: string): Promise<TcpEnd> {
    const socket = connect({
      host: to.address,
      port: to.port,
      noDelay: true,
      ...(from === undefined ? {} : { localAddress: from }),
    });
    onTestFinished(() => void socket.destroy());
    // The other end may break the connection as soon as it stands.
    await once(socket, 'connect').catch(() => undefined);
    return new TcpEnd(socket);
  }

  /** The other end has closed, or the connection broke. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Packets that came and nobody has taken. */
  get waiting(): number {
    return this.#received.length;
  }

  send(packet: Uint8Array): void {
    this.write(frame(packet, 0, packet.length));
  }

  /** Bytes as they are. */
  write(bytes: Uint8Array): void {
    this.#socket.write(bytes);
  }

  /** Takes nothing more from the network. */
  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  /** Says that it sends no more. */
  end(): void {
    this.#socket.end();
  }

  /** Breaks the connection. */
  reset(): void {
    this.#socket.resetAndDestroy();
  }

  /** @throws Error when the connection ends first. */
  async next(): Promise<Buffer> {
    while (this.#received.length === 0) {
      if (this.#isOver) throw new Error('The connection has ended.');
      await once(this.#socket, 'received');
    }
    return this.#received.shift()!;
  }
}
