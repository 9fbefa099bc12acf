/** Packets in a byte stream, each behind its length in 16 bits (RFC 4571 §2; for ICE, RFC 6544 §3). */

/** Bytes in front of each packet. */
export const FRAME_HEADER_LENGTH = 2;

/** Cuts one stream into packets, however it arrives. Total: any bytes are packets or too long for one. */
export class FrameReader {
  readonly #largest: number;
  /** A frame of which a part is still to come. */
  #held: Uint8Array | undefined;
  #heldLength = 0;

  /** @param largest Bytes of the largest packet. */
  constructor(largest: number) {
    this.#largest = largest;
  }

  /** Whether a frame has begun and not ended. */
  get isMidFrame(): boolean {
    return this.#heldLength > 0;
  }

  /**
   * @param onPacket Takes each packet that is whole now. Its bytes are good until it returns. Empty ones
   *   are left out: they carry nothing but life.
   * @returns False once a packet is too long; nothing after it can be read then.
   */
  read(chunk: Uint8Array, onPacket: (packet: Uint8Array) => void): boolean {
    for (let at = 0; at < chunk.length;) {
      let packet: Uint8Array | undefined;
      const end = frameEnd(chunk, at);
      if (this.#heldLength === 0 && end <= chunk.length) {
        packet = chunk.subarray(at + FRAME_HEADER_LENGTH, end);
        at = end;
      } else {
        at += this.#hold(chunk, at);
        if (this.#packetLength > this.#largest) return false;
        packet = this.#takeHeld();
      }
      if (packet === undefined || packet.length === 0) continue;
      if (packet.length > this.#largest) return false;
      onPacket(packet);
    }
    return true;
  }

  /** Takes what the held frame lacks of its header, or of the whole; says how much that was. */
  #hold(chunk: Uint8Array, at: number): number {
    this.#held ??= new Uint8Array(FRAME_HEADER_LENGTH + this.#largest);
    const missing = FRAME_HEADER_LENGTH + this.#packetLength - this.#heldLength;
    const part = chunk.subarray(at, at + missing);
    this.#held.set(part, this.#heldLength);
    this.#heldLength += part.length;
    return part.length;
  }

  #takeHeld(): Uint8Array | undefined {
    const end = FRAME_HEADER_LENGTH + this.#packetLength;
    if (this.#heldLength < end) return undefined;
    this.#heldLength = 0;
    return this.#held!.subarray(FRAME_HEADER_LENGTH, end);
  }

  /** Of the held frame; 0 as long as its header is not whole. */
  get #packetLength(): number {
    return this.#heldLength < FRAME_HEADER_LENGTH ? 0 : readLength(this.#held!, 0);
  }
}

/** A copy of the bytes from `start` to `end`, in a frame. They are at most 65535. */
export function frame(bytes: Uint8Array, start: number, end: number): Uint8Array {
  const framed = new Uint8Array(FRAME_HEADER_LENGTH + end - start);
  framed[0] = (end - start) >>> 8;
  framed[1] = end - start;
  framed.set(bytes.subarray(start, end), FRAME_HEADER_LENGTH);
  return framed;
}

/** Beyond the chunk when the frame is not whole. */
function frameEnd(chunk: Uint8Array, at: number): number {
  const start = at + FRAME_HEADER_LENGTH;
  return start > chunk.length ? Infinity : start + readLength(chunk, at);
}

function readLength(bytes: Uint8Array, at: number): number {
  return (bytes[at]! << 8) | bytes[at + 1]!;
}
