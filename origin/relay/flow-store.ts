/**
 * Brings flows into being, changes and ends them, under the table's lock. Each step takes the same time
 * however many flows there are.
 */
import { FlowIndex } from './flow-index.ts';
import { KEY_WORDS, sourceHash, type FlowKey } from './flow-key.ts';
import { FlowOwners } from './flow-owners.ts';
import {
  EVICTED_TOTAL,
  FREE,
  HAND,
  HASH_KEY,
  HIGHEST,
  NEWEST,
  OLDEST,
  PROVEN_COUNT,
  TENTATIVE_COUNT,
  TOTALS_OFFSET,
  type FlowLimits,
  type FlowMemory,
} from './flow-memory.ts';
import {
  ASKED,
  CHECKED_AT,
  CREATED_AT,
  EXPIRY,
  FLOW_WORDS,
  FREE_STATE,
  OLDER,
  PROVEN,
  SEAL,
  SEEN_AT,
  STATE,
  TARGET,
  TENTATIVE,
  TOKEN,
  TOKEN_HASH,
  TOKEN_WORDS,
  YOUNGER,
  elapsed,
  sealOf,
} from './flow.ts';
import { KeyedHash } from './keyed-hash.ts';
import { clearChecks } from './pending-checks.ts';
import type { TokenRoute } from './token-route.ts';
import { startTurns } from './token-turns.ts';

/** Flows looked at to find one that has been idle long: a sample, as good as an order of all in practice. */
const VICTIM_SAMPLE = 16;

export class FlowStore {
  readonly limits: FlowLimits;
  readonly control: Int32Array;
  readonly totals: Float64Array;
  readonly flows: Int32Array;
  readonly index: FlowIndex;
  readonly #sources: FlowOwners;
  readonly #tokens: FlowOwners;
  readonly keyed: KeyedHash;

  constructor(memory: FlowMemory) {
    this.limits = memory.limits;
    this.control = new Int32Array(memory.control, 0, TOTALS_OFFSET / Int32Array.BYTES_PER_ELEMENT);
    this.totals = new Float64Array(memory.control, TOTALS_OFFSET);
    this.flows = new Int32Array(memory.flows);
    this.index = new FlowIndex(memory);
    this.keyed = new KeyedHash(this.control, HASH_KEY);
    const sourceOf = (place: number): number => sourceHash(this.flows, place, this.keyed);
    this.#sources = new FlowOwners(memory.sources, this.flows, sourceOf);
    const tokenOf = (place: number): number => this.flows[place + TOKEN_HASH]!;
    this.#tokens = new FlowOwners(memory.tokens, this.flows, tokenOf);
  }

  /**
   * A new flow, for which others make room where there is none. The table must not hold the key yet.
   *
   * @returns Its place.
   */
  insert(
    key: FlowKey,
    state: typeof TENTATIVE | typeof PROVEN,
    { target, expiry, token }: TokenRoute,
    now32: number,
  ): number {
    this.#makeRoom(state, now32);
    const place = this.#allocate();
    const { flows } = this;
    key.writeTo(flows, place);
    flows[place + STATE] = state;
    clearChecks(flows, place);
    startTurns(flows, place, now32);
    this.#writeRoute(place, target, expiry, token, 0);
    flows[place + SEEN_AT] = now32;
    flows[place + CHECKED_AT] = now32;
    flows[place + CREATED_AT] = now32;
    if (state === TENTATIVE) this.#joinTentative(place);
    else this.control[PROVEN_COUNT]! += 1;
    while (!this.index.add(key.hash, place)) this.#evict(this.index.stalest(key.hash, now32));
    return place;
  }

  remove(place: number): void {
    const { flows, control } = this;
    this.index.remove(this.#keyHash(place), place);
    this.#tokens.release(place);
    if (stateOf(flows, place) === TENTATIVE) this.#leaveTentative(place);
    else control[PROVEN_COUNT]! -= 1;
    flows[place + STATE] = FREE_STATE;
    flows[place + YOUNGER] = control[FREE]!;
    control[FREE] = place;
  }

  /** Gives a flow the route of another token, which a check has just carried. */
  reroute(
    place: number,
    target: number,
    expiry: number,
    token: Int32Array,
    tokenAt: number,
    now32: number,
  ): void {
    this.#tokens.release(place);
    this.#writeRoute(place, target, expiry, token, tokenAt);
    this.flows[place + CHECKED_AT] = now32;
  }

  prove(place: number, now32: number): void {
    const { flows } = this;
    if (stateOf(flows, place) === TENTATIVE) {
      this.#leaveTentative(place);
      this.control[PROVEN_COUNT]! += 1;
    }
    flows[place + SEEN_AT] = now32;
    flows[place + STATE] = PROVEN;
  }

  /** Tentative for too long, or proven and idle. Needs no lock, yet is certain only under it. */
  isOver(place: number, now32: number): boolean {
    const state = stateOf(this.flows, place);
    if (state === FREE_STATE) return false;
    const limit = state === PROVEN ? this.limits.idle : this.limits.tentative;
    return elapsed(now32, this.flows[place + SEEN_AT]!) >= limit;
  }

  /** Makes room for one more tentative flow of a source. False when all its flows are too new to yield. */
  makeRoomOfSource(source: number, now32: number): boolean {
    return this.#makeRoomOf(this.#sources, source, this.limits.maxTentativePerSource, now32);
  }

  /** Makes room for one more flow of a token. False when none of its flows was silent for long. */
  makeRoomOfToken(tokenHash: number, now32: number): boolean {
    return this.#makeRoomOf(this.#tokens, tokenHash, this.limits.maxPerToken, now32);
  }

  /** The eldest tentative flow; 0 when there is none. */
  get oldestTentative(): number {
    return this.control[OLDEST]!;
  }

  #makeRoomOf(owners: FlowOwners, owner: number, limit: number, now32: number): boolean {
    if (owners.count(owner) < limit) return true;
    const place = owners.yielding(owner, now32);
    if (place !== 0) this.#evict(place);
    return place !== 0;
  }

  #makeRoom(state: typeof TENTATIVE | typeof PROVEN, now32: number): void {
    const { control } = this;
    if (state === TENTATIVE && control[TENTATIVE_COUNT]! >= this.limits.maxTentative) {
      this.#evict(this.oldestTentative);
    } else if (control[FREE] === 0 && control[HIGHEST] === this.limits.maxFlows) {
      this.#evict(this.#stalestSampled(now32) || this.oldestTentative);
    }
  }

  #stalestSampled(now32: number): number {
    const { control, flows } = this;
    const count = Math.min(VICTIM_SAMPLE, control[HIGHEST]!);
    let stalest = 0;
    let longest = -1;
    for (let i = 0; i < count; i++) {
      const place = this.#nextPlace();
      if (stateOf(flows, place) !== PROVEN) continue;
      const idle = Math.max(0, elapsed(now32, flows[place + SEEN_AT]!));
      if (idle <= longest) continue;
      longest = idle;
      stalest = place;
    }
    return stalest;
  }

  /** Moves the hand on, around all places ever used; there must be one. */
  #nextPlace(): number {
    const { control } = this;
    const number = control[HAND]! >= control[HIGHEST]! ? 1 : control[HAND]! + 1;
    control[HAND] = number;
    return number * FLOW_WORDS;
  }

  #evict(place: number): void {
    this.remove(place);
    this.totals[EVICTED_TOTAL]! += 1;
  }

  #allocate(): number {
    const { control, flows } = this;
    const free = control[FREE]!;
    if (free !== 0) {
      control[FREE] = flows[free + YOUNGER]!;
      return free;
    }
    control[HIGHEST]! += 1;
    return control[HIGHEST]! * FLOW_WORDS;
  }

  #writeRoute(
    place: number,
    target: number,
    expiry: number,
    token: Int32Array,
    tokenAt: number,
  ): void {
    const { flows } = this;
    const tokenHash = this.keyed.words(token, tokenAt, TOKEN_WORDS);
    flows[place + TARGET] = target;
    flows[place + EXPIRY] = expiry;
    flows[place + TOKEN_HASH] = tokenHash;
    flows[place + SEAL] = sealOf(this.#keyHash(place), target, expiry, tokenHash);
    for (let i = 0; i < TOKEN_WORDS; i++) flows[place + TOKEN + i] = token[tokenAt + i]!;
    this.#tokens.hold(place);
  }

  #keyHash(place: number): number {
    return this.keyed.words(this.flows, place, KEY_WORDS);
  }

  #joinTentative(place: number): void {
    const { control, flows } = this;
    const newest = control[NEWEST]!;
    flows[place + OLDER] = newest;
    flows[place + YOUNGER] = 0;
    if (newest === 0) control[OLDEST] = place;
    else flows[newest + YOUNGER] = place;
    control[NEWEST] = place;
    control[TENTATIVE_COUNT]! += 1;
    this.#sources.hold(place);
  }

  #leaveTentative(place: number): void {
    const { control, flows } = this;
    const older = flows[place + OLDER]!;
    const younger = flows[place + YOUNGER]!;
    if (older === 0) control[OLDEST] = younger;
    else flows[older + YOUNGER] = younger;
    if (younger === 0) control[NEWEST] = older;
    else flows[younger + OLDER] = older;
    control[TENTATIVE_COUNT]! -= 1;
    this.#sources.release(place);
  }
}

export function stateOf(flows: Int32Array, place: number): number {
  return flows[place + STATE]! & ~ASKED;
}
