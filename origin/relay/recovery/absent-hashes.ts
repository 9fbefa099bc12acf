/**
 * Flows that were just asked for, by their hashes, in fixed memory: cheap enough for a flood of packets
 * without a flow. One that shares a place with another may be forgotten sooner.
 */
import { ABSENCE } from './absent-flows.ts';

/** Places, a power of two. */
const PLACES = 16_384;

export class AbsentHashes {
  readonly #hashes = new Int32Array(PLACES);
  /** When the absence of a place's flow is forgotten. */
  readonly #until = new Float64Array(PLACES);

  /** @param now Milliseconds of any clock that never goes back. */
  add(hash: number, now: number): void {
    const place = hash & (PLACES - 1);
    this.#hashes[place] = hash;
    this.#until[place] = now + ABSENCE;
  }

  has(hash: number, now: number): boolean {
    const place = hash & (PLACES - 1);
    return this.#hashes[place] === hash && this.#until[place]! > now;
  }
}
