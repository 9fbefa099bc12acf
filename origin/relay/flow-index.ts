/**
 * Finds flows by their key: lines of 16 entries, of which a key's hash chooses one. An entry stays where
 * it is as long as its flow lives, so that a reader without a lock never misses one that moves.
 */
import { LINE_ENTRIES, type FlowMemory } from './flow-memory.ts';
import { FLOW_WORDS, SEEN_AT, elapsed } from './flow.ts';
import type { FlowKey } from './flow-key.ts';

/** An entry: the upper bits of the key's hash, and the flow's number; 0 when it is free. */
const TAG = 0xff_00_00_00 | 0;

export class FlowIndex {
  readonly #lines: Int32Array;
  readonly #mask: number;
  readonly #flows: Int32Array;

  constructor({ lines, flows }: FlowMemory) {
    this.#lines = new Int32Array(lines);
    this.#mask = this.#lines.length / LINE_ENTRIES - 1;
    this.#flows = new Int32Array(flows);
  }

  /** The place of the flow with that key; 0 when there is none. Needs no lock. */
  locate(key: FlowKey): number {
    const hash = key.hash;
    const line = this.#lineOf(hash);
    for (let i = line; i < line + LINE_ENTRIES; i++) {
      const entry = this.#lines[i]!;
      if (entry === 0 || ((entry ^ hash) & TAG) !== 0) continue;
      const place = placeIn(entry);
      if (key.isAt(this.#flows, place)) return place;
    }
    return 0;
  }

  /** False when the line is full. The flow's words must be there, for from now on others read them. */
  add(hash: number, place: number): boolean {
    const line = this.#lineOf(hash);
    for (let i = line; i < line + LINE_ENTRIES; i++) {
      if (this.#lines[i] !== 0) continue;
      Atomics.store(this.#lines, i, (hash & TAG) | (place / FLOW_WORDS));
      return true;
    }
    return false;
  }

  remove(hash: number, place: number): void {
    const line = this.#lineOf(hash);
    for (let i = line; i < line + LINE_ENTRIES; i++) {
      if (placeIn(this.#lines[i]!) === place) Atomics.store(this.#lines, i, 0);
    }
  }

  /** The flow that was idle longest among those that share a line with this hash; 0 if it is empty. */
  stalest(hash: number, now32: number): number {
    const line = this.#lineOf(hash);
    let stalest = 0;
    let longest = -1;
    for (let i = line; i < line + LINE_ENTRIES; i++) {
      const place = placeIn(this.#lines[i]!);
      if (place === 0) continue;
      const idle = Math.max(0, elapsed(now32, this.#flows[place + SEEN_AT]!));
      if (idle <= longest) continue;
      longest = idle;
      stalest = place;
    }
    return stalest;
  }

  #lineOf(hash: number): number {
    return (hash & this.#mask) * LINE_ENTRIES;
  }
}

function placeIn(entry: number): number {
  return (entry & ~TAG) * FLOW_WORDS;
}
