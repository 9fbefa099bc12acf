/**
 * All flows of a relay, in memory that its threads share: a packet finds its flow whichever thread it
 * comes to, and an answer proves one whichever thread carries it. The table may be lost at any moment;
 * clients' checks fill it again. Looking a flow up takes no lock and builds nothing.
 */
import type { Route } from '../../protocol/ufrag.ts';
import { FlowKey } from './flow-key.ts';
import {
  EVICTED_TOTAL,
  EXPIRED_TOTAL,
  HANDED_OVER_TOTAL,
  LOCK,
  OPENED_TOTAL,
  PROVEN_COUNT,
  RESTORED_TOTAL,
  TENTATIVE_COUNT,
  type FlowMemory,
} from './flow-memory.ts';
import { FlowStore, stateOf } from './flow-store.ts';
import { FlowSweep } from './flow-sweep.ts';
import {
  ASKED,
  CHECKED_AT,
  EXPIRY,
  PROVEN,
  SEAL,
  SEEN_AT,
  STATE,
  TARGET,
  TENTATIVE,
  TOKEN,
  TOKEN_HASH,
  clock32,
  sealOf,
} from './flow.ts';
import type { Moment } from './moment.ts';
import { addCheck, hasCheck, hashTransaction } from './pending-checks.ts';
import { answered, askToMove, askToProve, mayAsk, type FlowChange } from './repointing.ts';
import { SharedLock } from './shared-lock.ts';
import { TokenRoute, clusterOf, expiresAtOf, transceiverOf } from './token-route.ts';

/** Lookups that meet a writer at work before one waits for it. */
const READ_ATTEMPTS = 8;

/** What the table said last; the same object each time. */
export interface FoundFlow extends Route {
  cluster: number;
  transceiver: number;
  expiresAt: number;
  /** A transceiver has answered a check; until then the flow is tentative. */
  proven: boolean;
  /** The flow's token is the one it was looked up with. */
  hasToken: boolean;
  /** Checks wait for an answer that would prove or move the flow. */
  asked: boolean;
}

/** Why no flow was made. */
export type FlowRefusal = 'tentative-limit' | 'token-limit';

export class FlowTable {
  /** The flow that {@link find} found, when it did. */
  readonly found: FoundFlow = {
    cluster: 0,
    transceiver: 0,
    expiresAt: 0,
    proven: false,
    hasToken: false,
    asked: false,
  };
  readonly #store: FlowStore;
  readonly #lock: SharedLock;
  readonly #sweep: FlowSweep;
  readonly #key: FlowKey;
  readonly #route: TokenRoute;
  #place = 0;

  /** @param memory That of all threads' tables. */
  constructor(memory: FlowMemory) {
    this.#store = new FlowStore(memory);
    this.#lock = new SharedLock(this.#store.control, LOCK);
    this.#sweep = new FlowSweep(this.#store, this.#lock);
    this.#key = new FlowKey(this.#store.keyed);
    this.#route = new TokenRoute(this.#store.keyed);
  }

  get tentative(): number {
    return this.#store.control[TENTATIVE_COUNT]!;
  }

  /** With those that are idle and not yet swept. */
  get proven(): number {
    return this.#store.control[PROVEN_COUNT]!;
  }

  get expired(): number {
    return this.#store.totals[EXPIRED_TOTAL]!;
  }

  get evicted(): number {
    return this.#store.totals[EVICTED_TOTAL]!;
  }

  /** Flows that checks made. */
  get opened(): number {
    return this.#store.totals[OPENED_TOTAL]!;
  }

  /** Flows that Redis had kept. */
  get restored(): number {
    return this.#store.totals[RESTORED_TOTAL]!;
  }

  /** Flows of the process whose place this one took. */
  get handedOver(): number {
    return this.#store.totals[HANDED_OVER_TOTAL]!;
  }

  /**
   * Looks up the flow whose packets have the trunk header at `at`, into {@link found}.
   *
   * @param now Milliseconds of the steady clock, as everywhere here.
   * @param token Holds the ufrag that a check carries at `tokenAt`.
   */
  find(header: Uint8Array, at: number, now: number, token?: Uint8Array, tokenAt = 0): boolean {
    this.#key.read(header, at);
    for (let i = 0; i < READ_ATTEMPTS; i++) {
      this.#place = this.#store.index.locate(this.#key);
      if (this.#place === 0) return false;
      if (token && i === 0) this.#route.setToken(token, tokenAt);
      if (this.#read(now, token !== undefined)) return this.#place !== 0;
    }
    // The writer was interrupted in the midst of its work.
    this.#lock.acquire();
    try {
      this.#place = this.#store.index.locate(this.#key);
      return this.#place !== 0 && this.#read(now, token !== undefined) && this.#place !== 0;
    } finally {
      this.#lock.release();
    }
  }

  /**
   * Keeps the flow just found from expiring, if it is proven; a tentative one has its fixed time.
   * Should another thread have ended it meanwhile, whoever has its place seems a little younger.
   */
  touch(now: number): void {
    if (!this.found.proven) return;
    const now32 = clock32(now);
    const { flows } = this.#store;
    flows[this.#place + SEEN_AT] = now32;
    if (this.found.hasToken) flows[this.#place + CHECKED_AT] = now32;
  }

  /**
   * Notes a check on its way, whose answer would prove the flow or move it. Makes a tentative flow when
   * there is none; a tentative flow takes the route of its newest check at once, if it is that one's turn.
   *
   * @param route What the token says.
   * @param token Holds the ufrag at `tokenAt`.
   * @param transactionId Holds its 12 bytes at `transactionIdAt`.
   */
  check(
    header: Uint8Array,
    at: number,
    route: Route,
    token: Uint8Array,
    transactionId: Uint8Array,
    now: number,
    tokenAt = 0,
    transactionIdAt = 0,
  ): FlowRefusal | undefined {
    this.#key.read(header, at);
    this.#route.setToken(token, tokenAt);
    this.#route.setRoute(route);
    const id = hashTransaction(transactionId, transactionIdAt, this.#store.keyed);
    this.#lock.acquire();
    try {
      const place = this.#living(now);
      if (place === 0) return this.#open(id, now);
      const isOwn = this.#route.hasTokenAt(this.#store.flows, place + TOKEN);
      if (!isOwn && !mayAsk(this.#store, place, this.#route, now)) return undefined;
      if (stateOf(this.#store.flows, place) === TENTATIVE) {
        const { flows } = this.#store;
        const isOneMore = flows[place + TOKEN_HASH] !== this.#route.tokenHash;
        if (isOneMore && !this.#makeRoomOfToken(now)) return 'token-limit';
        askToProve(this.#store, place, this.#route, id, now);
      } else if (!isOwn) {
        askToMove(this.#store, place, this.#route, id, now);
      }
      return undefined;
    } finally {
      this.#lock.release();
    }
  }

  /**
   * Learns from a success response on its way to the client.
   *
   * @param transactionId Holds its 12 bytes at `transactionIdAt`.
   */
  answer(
    header: Uint8Array,
    at: number,
    transactionId: Uint8Array,
    now: Moment,
    transactionIdAt = 0,
  ): FlowChange | undefined {
    if (!this.find(header, at, now.steady) || !this.found.asked) return undefined;
    const id = hashTransaction(transactionId, transactionIdAt, this.#store.keyed);
    this.#lock.acquire();
    try {
      const place = this.#living(now.steady);
      if (place === 0 || !hasCheck(this.#store.flows, place, id, now.steady)) return undefined;
      return answered(this.#store, place, now);
    } finally {
      this.#lock.release();
    }
  }

  /**
   * Takes a proven flow from elsewhere, where it was remembered. What the table knows itself stays.
   *
   * @param total Counts it: that of flows from Redis unless told otherwise.
   * @returns Whether the flow is new here.
   */
  restore(
    header: Uint8Array,
    at: number,
    route: Route,
    token: Uint8Array,
    now: number,
    total: typeof RESTORED_TOTAL | typeof HANDED_OVER_TOTAL = RESTORED_TOTAL,
  ): boolean {
    this.#key.read(header, at);
    this.#route.setToken(token, 0);
    this.#route.setRoute(route);
    this.#lock.acquire();
    try {
      if (this.#living(now) !== 0 || !this.#makeRoomOfToken(now)) return false;
      this.#insert(PROVEN, now);
      this.#store.totals[total]! += 1;
      return true;
    } finally {
      this.#lock.release();
    }
  }

  /**
   * Forgets flows whose time is over, some at a time; to be called several times a second, by one thread.
   */
  expire(now: number): void {
    this.#sweep.run(now);
  }

  /** False when the words at the place do not belong together. Sets the place to 0 if its flow is over. */
  #read(now: number, byToken: boolean): boolean {
    const { flows } = this.#store;
    const place = this.#place;
    const target = flows[place + TARGET]!;
    const expiry = flows[place + EXPIRY]!;
    const tokenHash = flows[place + TOKEN_HASH]!;
    if (flows[place + SEAL] !== sealOf(this.#key.hash, target, expiry, tokenHash)) return false;
    if (this.#store.isOver(place, clock32(now))) this.#place = 0;
    const state = flows[place + STATE]!;
    const { found } = this;
    found.cluster = clusterOf(target);
    found.transceiver = transceiverOf(target);
    found.expiresAt = expiresAtOf(expiry);
    found.proven = (state & ~ASKED) === PROVEN;
    found.asked = (state & ASKED) !== 0;
    found.hasToken =
      byToken &&
      tokenHash === this.#route.tokenHash &&
      this.#route.hasTokenAt(flows, place + TOKEN);
    return true;
  }

  /** The place of the key's flow, under the lock. One whose time is over ends now. */
  #living(now: number): number {
    const place = this.#store.index.locate(this.#key);
    if (place === 0 || !this.#store.isOver(place, clock32(now))) return place;
    this.#store.remove(place);
    this.#store.totals[EXPIRED_TOTAL]! += 1;
    return 0;
  }

  #open(id: number, now: number): FlowRefusal | undefined {
    if (!this.#makeRoomOfToken(now)) return 'token-limit';
    if (!this.#store.makeRoomOfSource(this.#key.source, clock32(now))) return 'tentative-limit';
    const place = this.#insert(TENTATIVE, now);
    this.#store.totals[OPENED_TOTAL]! += 1;
    addCheck(this.#store.flows, place, id, now);
    return undefined;
  }

  #makeRoomOfToken(now: number): boolean {
    return this.#store.makeRoomOfToken(this.#route.tokenHash, clock32(now));
  }

  #insert(state: typeof TENTATIVE | typeof PROVEN, now: number): number {
    return this.#store.insert(this.#key, state, this.#route, clock32(now));
  }
}
