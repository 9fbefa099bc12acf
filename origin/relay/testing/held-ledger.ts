/** Remembers what came and was not sent on, for packets that are held and sent later; each once. */
import { TRUNK_HEADER_LENGTH, trunkFrameEnd } from '../../../protocol/trunk.ts';
import { TRUNK_SOCKET, type PacketBatch } from '../packet-batch.ts';

/** Packets remembered before the elder half is forgotten: more than can be held for as long. */
const GENERATION = 50_000;

export class HeldLedger {
  #newer = new Map<number, number>();
  #older = new Map<number, number>();

  /** Remembers all packets of a batch that has been forwarded. */
  add(batch: PacketBatch): void {
    for (let i = 0; i < batch.count; i++) {
      const [start, end] = [batch.start[i]!, batch.end[i]!];
      if (batch.socket[i] !== TRUNK_SOCKET) {
        if (batch.port[i] !== 0 && end > start) {
          this.#note(batch.bytes, start - TRUNK_HEADER_LENGTH, end);
        }
        continue;
      }
      for (let at = start, next; at < end; at = next) {
        next = trunkFrameEnd(batch.bytes, at, end);
        if (next < 0) break;
        this.#note(batch.bytes, at, next);
      }
    }
  }

  /** Whether such a frame came, and was not taken yet. */
  take(frame: Uint8Array): boolean {
    const name = nameOf(frame, 0, frame.length);
    for (const generation of [this.#newer, this.#older]) {
      const count = generation.get(name);
      if (count === undefined) continue;
      if (count === 1) generation.delete(name);
      else generation.set(name, count - 1);
      return true;
    }
    return false;
  }

  #note(bytes: Uint8Array, start: number, end: number): void {
    if (this.#newer.size >= GENERATION) [this.#older, this.#newer] = [this.#newer, new Map()];
    const name = nameOf(bytes, start, end);
    this.#newer.set(name, (this.#newer.get(name) ?? 0) + 1);
  }
}

/** Stands for all of the frame but its flags, which change on the way (FNV-1a). */
function nameOf(bytes: Uint8Array, start: number, end: number): number {
  let hash = 0x811c9dc5;
  for (let i = start + 1; i < end; i++) hash = Math.imul(hash ^ bytes[i]!, 0x01000193);
  return hash;
}
