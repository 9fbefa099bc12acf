/**
 * Goes round the relay's shared table, some places at a time and without a lock, and visits the proven
 * flows that are due: those that are new or have changed, and all others from time to time.
 */
import { TRUNK_CLIENT, TRUNK_HEADER_LENGTH, TRUNK_LISTENER } from '../../../protocol/trunk.ts';
import { KEY_WORDS } from '../flow-key.ts';
import { HIGHEST, type FlowMemory } from '../flow-memory.ts';
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
  elapsed,
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
  readonly #key = new Int32Array(KEY_WORDS);
  readonly #token = new Int32Array(TOKEN_WORDS);
  readonly #header = new Uint8Array(TRUNK_HEADER_LENGTH);
  readonly #headerView = new DataView(this.#header.buffer);
  readonly #tokenBytes = new Uint8Array(TOKEN_WORDS * Int32Array.BYTES_PER_ELEMENT);
  readonly #tokenView = new DataView(this.#tokenBytes.buffer);
  readonly #interval: number;
  /** By the number of a flow: its seal when it was visited, and when that was. */
  readonly #seals: Int32Array;
  readonly #visitedAt: Int32Array;
  #hand = 0;

  /** @param interval Milliseconds after which a flow is due though it has not changed. */
  constructor(memory: FlowMemory, interval: number) {
    this.#store = new FlowStore(memory);
    this.#interval = interval;
    this.#seals = new Int32Array(memory.limits.maxFlows + 1);
    this.#visitedAt = new Int32Array(memory.limits.maxFlows + 1);
  }

  /** Places that one round looks at. */
  get length(): number {
    return this.#store.control[HIGHEST]!;
  }

  /** From now on all flows are due. */
  forget(): void {
    this.#seals.fill(0);
  }

  /**
   * Looks at so many places more, but visits no more flows than that.
   *
   * @param now Milliseconds of the steady clock.
   */
  advance(places: number, visits: number, now: number, visit: FlowVisitor): void {
    const highest = this.length;
    const now32 = clock32(now);
    let left = visits;
    for (let i = Math.min(places, highest); i > 0 && left > 0; i--) {
      this.#hand = this.#hand >= highest ? 1 : this.#hand + 1;
      if (!this.#isDue(this.#hand, now32) || !this.#read(this.#hand * FLOW_WORDS)) continue;
      this.#visitedAt[this.#hand] = now32;
      visit(this.#header, this.#tokenBytes);
      left--;
    }
  }

  #isDue(flow: number, now32: number): boolean {
    const { flows } = this.#store;
    const place = flow * FLOW_WORDS;
    if (stateOf(flows, place) !== PROVEN || this.#store.isOver(place, now32)) return false;
    if (flows[place + SEAL] !== this.#seals[flow]) return true;
    return elapsed(now32, this.#visitedAt[flow]!) >= this.#interval;
  }

  /** False when a thread is just changing the flow; the next round comes. */
  #read(place: number): boolean {
    const { flows, keyed } = this.#store;
    const seal = flows[place + SEAL]!;
    for (let i = 0; i < KEY_WORDS; i++) this.#key[i] = flows[place + KEY + i]!;
    for (let i = 0; i < TOKEN_WORDS; i++) this.#token[i] = flows[place + TOKEN + i]!;
    const keyHash = keyed.words(this.#key, 0, KEY_WORDS);
    const tokenHash = keyed.words(this.#token, 0, TOKEN_WORDS);
    // The words may be of two flows or two tokens; then they do not make the seal.
    if (seal !== sealOf(keyHash, flows[place + TARGET]!, flows[place + EXPIRY]!, tokenHash)) {
      return false;
    }
    this.#seals[place / FLOW_WORDS] = seal;
    this.#header[TRUNK_LISTENER] = this.#key[0]!;
    for (let i = 1; i < KEY_WORDS; i++) {
      this.#headerView.setInt32(TRUNK_CLIENT + (i - 1) * 4, this.#key[i]!, true);
    }
    for (let i = 0; i < TOKEN_WORDS; i++) this.#tokenView.setInt32(i * 4, this.#token[i]!, true);
    return true;
  }
}
