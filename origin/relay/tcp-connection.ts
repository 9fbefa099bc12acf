/** A client's TCP connection: packets out of its stream and into it, and why it should end. */
import type { Socket } from 'node:net';
import { ADDRESS_LENGTH, isMappedIPv4 } from '../../protocol/address.ts';
import { STUN_BINDING, readStun } from '../../protocol/stun.ts';
import type { CloseReason } from './counters.ts';
import { MAX_CLIENT_PACKET } from './packet-batch.ts';
import { FrameReader, frame } from './rfc4571.ts';
import type { TcpLimits } from './tcp-limits.ts';

/** Type of the message that confirms a check (RFC 8489 §5). */
const BINDING_SUCCESS = 0x0101;

/** Bytes of an IPv6 address that one site has all of. */
const SITE_LENGTH = 8;

export class TcpConnection {
  readonly listener: number;
  /** 16 bytes. */
  readonly address: Uint8Array;
  readonly port: number;
  readonly #socket: Socket;
  readonly #limits: TcpLimits;
  readonly #reader = new FrameReader(MAX_CLIENT_PACKET);
  readonly #openedAt = performance.now();
  #packetAt = this.#openedAt;
  /** When the frame that is to become whole began; the first one begins with the connection. */
  #frameAt: number | undefined = this.#openedAt;
  /** Unknown until the first packet is here. */
  #beganWithCheck: boolean | undefined;
  #isAnswered = false;

  constructor(
    socket: Socket,
    listener: number,
    address: Uint8Array,
    port: number,
    limits: TcpLimits,
  ) {
    this.#socket = socket;
    this.listener = listener;
    this.address = address;
    this.port = port;
    this.#limits = limits;
  }

  /** Names the connection; see {@link connectionKey}. */
  get key(): string {
    return connectionKey(this.listener, this.address, 0, this.port);
  }

  /** Names who its limits apply to: an IPv4 address, or an IPv6 /64. */
  get site(): string {
    return latin1(this.address, 0, isMappedIPv4(this.address) ? ADDRESS_LENGTH : SITE_LENGTH);
  }

  /** A transceiver has confirmed a check of the client. */
  get isAnswered(): boolean {
    return this.#isAnswered;
  }

  /**
   * Takes bytes from the stream.
   *
   * @param onPacket Takes each packet; its bytes are good until it returns.
   * @returns Why the connection must end.
   */
  receive(chunk: Uint8Array, onPacket: (packet: Uint8Array) => void): CloseReason | undefined {
    let count = 0;
    const isInFrames = this.#reader.read(chunk, (packet) => {
      count++;
      this.#beganWithCheck ??= isCheck(packet);
      if (this.#beganWithCheck) onPacket(packet);
    });
    // Only a check can come first: nothing else would find a flow.
    const isLost = !isInFrames && this.#beganWithCheck === undefined;
    if (this.#beganWithCheck === false || isLost) return 'not-a-check';
    if (!isInFrames) return 'oversized-frame';
    const now = performance.now();
    if (count > 0) this.#packetAt = now;
    if (!this.#reader.isMidFrame && this.#beganWithCheck) this.#frameAt = undefined;
    else if (count > 0) this.#frameAt = now;
    else this.#frameAt ??= now;
    return undefined;
  }

  /** False when the connection takes no more just now. */
  send(data: Uint8Array, start: number, end: number): boolean {
    // The socket's own mark: what the client has not taken would reach it late, and is old by then.
    if (this.#socket.writableNeedDrain) return false;
    this.#isAnswered ||= ((data[start]! << 8) | data[start + 1]!) === BINDING_SUCCESS;
    this.#socket.write(frame(data, start, end));
    return true;
  }

  /** Why the connection should have ended by now. */
  overdue(): CloseReason | undefined {
    const now = performance.now();
    if (this.#frameAt !== undefined && now - this.#frameAt > this.#limits.frame) {
      return 'slow-frame';
    }
    if (!this.#isAnswered && now - this.#openedAt > this.#limits.answer) return 'unanswered';
    return now - this.#packetAt > this.#limits.idle ? 'idle' : undefined;
  }

  /** Ends it without a farewell, which the client might never take and the system would have to keep. */
  destroy(): void {
    this.#socket.resetAndDestroy();
  }
}

/** Names the connection of a client to a listener. @param address 16 bytes at `at`. */
export function connectionKey(
  listener: number,
  address: Uint8Array,
  at: number,
  port: number,
): string {
  return `${listener} ${port} ${latin1(address, at, ADDRESS_LENGTH)}`;
}

function latin1(bytes: Uint8Array, at: number, length: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + at, length).toString('latin1');
}

/** What a client begins with: a Binding request that names its session (RFC 8445 §7.2.2). */
function isCheck(packet: Uint8Array): boolean {
  const message = readStun(packet);
  return (
    message?.class === 'request' &&
    message.method === STUN_BINDING &&
    message.username !== undefined
  );
}
