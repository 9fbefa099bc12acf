/**
 * The flows of each owner, a source or a token, within a limit: counted, and listed so that an owner who
 * has as many as may be loses one of those for a new one. A stranger who floods in an owner's name then
 * takes nothing from the owner but time.
 */
import { CountSketch, sketchBytes, sketchCells } from './count-sketch.ts';
import { ASKED, FLOW_WORDS, SEEN_AT, STATE, TENTATIVE, elapsed } from './flow.ts';

/**
 * Milliseconds without a packet before a flow yields to another: a tentative one may wait for its answer
 * as long, which is a way around the world, and no flow with media on it yields at all.
 */
export const YIELD_AFTER = 300;

/** Flows looked at for one that yields. Others are looked at the next time. */
const SAMPLE = 4;

/** Words of a list's head: its first and its last flow; and of a flow's links: one before, one behind. */
const PAIR = 2;

export interface OwnersMemory {
  readonly counts: SharedArrayBuffer;
  /** Heads of lists, owners by their hash, and then links of each flow by its number. */
  readonly lists: SharedArrayBuffer;
}

/** Bytes of links per flow. */
export const OWNER_BYTES = PAIR * Int32Array.BYTES_PER_ELEMENT;

/** @param things Flows that count at most, as many as there are owners at worst. */
export function ownersMemory(things: number, maxFlows: number): OwnersMemory {
  const cells = sketchCells(things);
  return {
    counts: new SharedArrayBuffer(sketchBytes(cells)),
    lists: new SharedArrayBuffer((cells + maxFlows + 1) * OWNER_BYTES),
  };
}

/** To be used under the table's lock. A flow is told by its place. */
export class FlowOwners {
  readonly #flows: Int32Array;
  readonly #ownerOf: (place: number) => number;
  readonly #counts: CountSketch;
  readonly #words: Int32Array;
  readonly #cells: number;

  /** @param ownerOf A hash of 32 bits, the same as long as the flow is held. */
  constructor(memory: OwnersMemory, flows: Int32Array, ownerOf: (place: number) => number) {
    this.#flows = flows;
    this.#ownerOf = ownerOf;
    this.#counts = new CountSketch(memory.counts);
    this.#words = new Int32Array(memory.lists);
    this.#cells = this.#words.length / PAIR - flows.length / FLOW_WORDS;
  }

  count(owner: number): number {
    return this.#counts.count(owner);
  }

  hold(place: number): void {
    const owner = this.#ownerOf(place);
    this.#counts.add(owner, 1);
    this.#append(this.#headOf(owner), place);
  }

  release(place: number): void {
    const owner = this.#ownerOf(place);
    this.#counts.add(owner, -1);
    this.#unlink(this.#headOf(owner), place);
  }

  /**
   * A flow of the owner that has had its time: a tentative one if there is any, and of several the one
   * that was silent longest. 0 when there is none among those looked at.
   */
  yielding(owner: number, now32: number): number {
    const head = this.#headOf(owner);
    let victim = 0;
    let longest = YIELD_AFTER - 1;
    for (let i = 0; i < SAMPLE; i++) {
      const place = this.#words[head]!;
      if (place === 0) break;
      this.#unlink(head, place);
      this.#append(head, place);
      // Owners whose hashes are alike share a list.
      if (this.#ownerOf(place) !== owner) continue;
      const silent = elapsed(now32, this.#flows[place + SEEN_AT]!);
      if (silent < YIELD_AFTER) continue;
      const isBetter =
        victim === 0 || this.#isTentative(place) === this.#isTentative(victim)
          ? silent > longest
          : this.#isTentative(place);
      if (!isBetter) continue;
      victim = place;
      longest = silent;
    }
    return victim;
  }

  #isTentative(place: number): boolean {
    return (this.#flows[place + STATE]! & ~ASKED) === TENTATIVE;
  }

  #append(head: number, place: number): void {
    const words = this.#words;
    const last = words[head + 1]!;
    const link = this.#linkOf(place);
    words[link] = last;
    words[link + 1] = 0;
    if (last === 0) words[head] = place;
    else words[this.#linkOf(last) + 1] = place;
    words[head + 1] = place;
  }

  #unlink(head: number, place: number): void {
    const words = this.#words;
    const link = this.#linkOf(place);
    const before = words[link]!;
    const behind = words[link + 1]!;
    if (before === 0) words[head] = behind;
    else words[this.#linkOf(before) + 1] = behind;
    if (behind === 0) words[head + 1] = before;
    else words[this.#linkOf(behind)] = before;
    words[link] = 0;
    words[link + 1] = 0;
  }

  #headOf(owner: number): number {
    return (owner & (this.#cells - 1)) * PAIR;
  }

  #linkOf(place: number): number {
    return (this.#cells + place / FLOW_WORDS) * PAIR;
  }
}
