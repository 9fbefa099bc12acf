/**
 * What goes out on the trunk. Frames for one destination that are sent in one turn of the event loop
 * share a datagram, as a datagram costs more than all that is in it; none waits for the next turn.
 */
import type { Socket } from 'node:dgram';
import { TRUNK_HEADER_LENGTH, TRUNK_MTU, setTrunkLength } from '../../protocol/trunk.ts';
import type { Path, TrunkCounters } from './trunk-socket.ts';

/** Most datagrams begun at a time; there are far fewer relays. */
const MAX_BEGUN = 64;

/** Most datagrams kept to be filled anew. */
const MAX_SPARE = 64;

/** One datagram, from its first frame until the kernel has it. */
class Datagram {
  readonly bytes: Buffer;
  /** Made once, so that sending makes no closure. */
  readonly onSent: (error: Error | null) => void;
  address = '';
  port = 0;
  length = 0;
  frames = 0;

  constructor(size: number, onSent: (it: Datagram, error: Error | null) => void) {
    this.bytes = Buffer.allocUnsafeSlow(size);
    this.onSent = (error) => onSent(this, error);
  }
}

export class TrunkSender {
  readonly #socket: Socket;
  readonly #counters: Pick<TrunkCounters, 'framesOut' | 'bytesOut' | 'sendErrors'>;
  readonly #spare: Datagram[] = [];
  #begun: Datagram[] = [];
  #sending = 0;
  #onIdle: (() => void) | undefined;
  #open = true;
  readonly #flush = () => {
    const begun = this.#begun;
    this.#begun = [];
    for (const datagram of begun) this.#send(datagram);
  };
  readonly #onSent = (datagram: Datagram, error: Error | null) => {
    if (error) this.#counters.sendErrors += datagram.frames;
    if (datagram.bytes.length === TRUNK_MTU && this.#spare.length < MAX_SPARE) {
      this.#spare.push(datagram);
    }
    if (--this.#sending === 0) this.#onIdle?.();
  };

  constructor(
    socket: Socket,
    counters: Pick<TrunkCounters, 'framesOut' | 'bytesOut' | 'sendErrors'>,
  ) {
    this.#socket = socket;
    this.#counters = counters;
  }

  /** Sends a packet down a path; nothing after close(). */
  send({ header, source }: Path, packet: Uint8Array): void {
    if (!this.#open) return;
    const size = TRUNK_HEADER_LENGTH + packet.length;
    const datagram = this.#datagramFor(source.address, source.port, size);
    const at = datagram.length;
    datagram.bytes.set(header, at);
    setTrunkLength(datagram.bytes, at, packet.length);
    datagram.bytes.set(packet, at + TRUNK_HEADER_LENGTH);
    datagram.length += size;
    datagram.frames++;
    this.#counters.framesOut++;
    this.#counters.bytesOut += packet.length;
  }

  /** Resolves once the kernel has all that was sent. The socket stays open. */
  async close(): Promise<void> {
    this.#open = false;
    this.#flush();
    if (this.#sending > 0) await new Promise<void>((resolve) => (this.#onIdle = resolve));
  }

  #datagramFor(address: string, port: number, size: number): Datagram {
    const begun = this.#begun;
    for (let i = 0; i < begun.length; i++) {
      const datagram = begun[i]!;
      if (datagram.port !== port || datagram.address !== address) continue;
      if (datagram.length + size <= TRUNK_MTU) return datagram;
      this.#send(datagram);
      return (begun[i] = this.#begin(address, port, size));
    }
    if (begun.length === 0) setImmediate(this.#flush);
    else if (begun.length === MAX_BEGUN) this.#send(begun.shift()!);
    const datagram = this.#begin(address, port, size);
    begun.push(datagram);
    return datagram;
  }

  #begin(address: string, port: number, size: number): Datagram {
    const spare = size <= TRUNK_MTU ? this.#spare.pop() : undefined;
    const datagram = spare ?? new Datagram(Math.max(size, TRUNK_MTU), this.#onSent);
    datagram.address = address;
    datagram.port = port;
    datagram.length = 0;
    datagram.frames = 0;
    return datagram;
  }

  #send({ bytes, length, port, address, onSent }: Datagram): void {
    this.#sending++;
    this.#socket.send(bytes, 0, length, port, address, onSent);
  }
}
