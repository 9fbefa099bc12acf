/** Goes round all proven flows of the relay's shared table, some at a time, without a lock. */
import { TRUNK_CLIENT, TRUNK_HEADER_LENGTH, TRUNK_LISTENER } from '../../../protocol/trunk.ts';
import { KEY_WORDS, hashWords } from '../flow-key.ts';
import { HIGHEST, SEED, type FlowMemory } from '../flow-memory.ts';
import { FlowStore, stateOf } from '../flow-store.ts';
import {
  EXPIRY,
  FLOW_WORDS,
  KEY,
  PROVEN,
  SEAL,
  TARGET,
  TOKEN,
  TOKEN_WORDS,
  clock32,
  sealOf,
} from '../flow.ts';

/**
 * @param header The trunk header of the flow's packets, but for flags and length. Both arguments are the
 *   callee's only until it returns.
 * @param token Begins with the ufrag's bytes.
 */
export type FlowVisitor = (header: Uint8Array, token: Uint8Array) => void;

export class FlowWalk {
  readonly #store: FlowStore;
  readonly #seed: number;
  readonly #key = new Int32Array(KEY_WORDS);
  readonly #token = new Int32Array(TOKEN_WORDS);
  readonly #header = new Uint8Array(TRUNK_HEADER_LENGTH);
  readonly #headerView = new DataView(this.#header.buffer);
  readonly #tokenBytes = new Uint8Array(TOKEN_WORDS * Int32Array.BYTES_PER_ELEMENT);
  readonly #tokenView = new DataView(this.#tokenBytes.buffer);
  #hand = 0;

  constructor(memory: FlowMemory) {
    this.#store = new FlowStore(memory);
    this.#seed = this.#store.control[SEED]!;
  }

  /** Places that one round looks at. */
  get length(): number {
    return this.#store.control[HIGHEST]!;
  }

  /** Looks at so many places more, and visits the proven flows that live there. */
  advance(count: number, now: number, visit: FlowVisitor): void {
    const highest = this.length;
    for (let left = Math.min(count, highest); left > 0; left--) {
      this.#hand = this.#hand >= highest ? 1 : this.#hand + 1;
      if (this.#read(this.#hand * FLOW_WORDS, clock32(now))) visit(this.#header, this.#tokenBytes);
    }
  }

  /** False when no proven flow lives there, or a thread is just changing it; the next round comes. */
  #read(place: number, now32: number): boolean {
    const { flows } = this.#store;
    if (stateOf(flows, place) !== PROVEN || this.#store.isOver(place, now32)) return false;
    const seal = flows[place + SEAL]!;
    for (let i = 0; i < KEY_WORDS; i++) this.#key[i] = flows[place + KEY + i]!;
    for (let i = 0; i < TOKEN_WORDS; i++) this.#token[i] = flows[place + TOKEN + i]!;
    const keyHash = hashWords(this.#key, 0, KEY_WORDS, this.#seed);
    const tokenHash = hashWords(this.#token, 0, TOKEN_WORDS, this.#seed);
    // The words may be of two flows or two tokens; then they do not make the seal.
    if (seal !== sealOf(keyHash, flows[place + TARGET]!, flows[place + EXPIRY]!, tokenHash)) {
      return false;
    }
    this.#header[TRUNK_LISTENER] = this.#key[0]!;
    for (let i = 1; i < KEY_WORDS; i++) {
      this.#headerView.setInt32(TRUNK_CLIENT + (i - 1) * 4, this.#key[i]!, true);
    }
    for (let i = 0; i < TOKEN_WORDS; i++) this.#tokenView.setInt32(i * 4, this.#token[i]!, true);
    return true;
  }
}
