/**
 * All flows of a relay, bounded. It may be lost at any moment: clients' checks fill it again. Nothing
 * here takes longer when there are more flows.
 */
import { FlowList } from './flow-list.ts';
import { hashFlow, sameFlow, sourceOf } from './flow-key.ts';
import { Flow, type FlowRoute } from './flow.ts';

export interface FlowLimits {
  /** Milliseconds without a packet from the client after which a proven flow is forgotten. */
  readonly idle: number;
  /** Milliseconds a flow may wait for its proof. */
  readonly tentative: number;
  readonly maxFlows: number;
  readonly maxTentative: number;
  /** Tentative flows of one IPv4 address or IPv6 /64. */
  readonly maxTentativePerSource: number;
}

/** Clients check every 2 to 6 s (RFC 7675 §5.1), so an idle flow is a dead one long before. */
export const FLOW_LIMITS: FlowLimits = {
  idle: 60_000,
  tentative: 5_000,
  maxFlows: 1_000_000,
  maxTentative: 65_536,
  maxTentativePerSource: 256,
};

/** In a full table; the buckets are there from the start, so that no packet waits for them to grow. */
const FLOWS_PER_BUCKET = 4;

export class FlowTable {
  readonly #limits: FlowLimits;
  readonly #buckets: (Flow | undefined)[];
  readonly #tentative = new FlowList();
  readonly #proven = new FlowList();
  readonly #tentativeBySource = new Map<string, number>();
  #expired = 0;
  #evicted = 0;

  constructor(limits: FlowLimits = FLOW_LIMITS) {
    this.#limits = limits;
    const buckets = 2 ** Math.ceil(Math.log2(Math.max(2, limits.maxFlows / FLOWS_PER_BUCKET)));
    this.#buckets = Array.from<Flow | undefined>({ length: buckets });
  }

  get tentative(): number {
    return this.#tentative.size;
  }

  get proven(): number {
    return this.#proven.size;
  }

  get expired(): number {
    return this.#expired;
  }

  get evicted(): number {
    return this.#evicted;
  }

  /** The flow whose packets have the trunk header at `at`. */
  find(header: Uint8Array, at: number): Flow | undefined {
    let flow = this.#buckets[hashFlow(header, at) & (this.#buckets.length - 1)];
    while (flow && !sameFlow(flow.header, 0, header, at)) flow = flow.chained;
    return flow;
  }

  /**
   * A new tentative flow; the oldest one makes room where there is none. Undefined when the source has
   * too many tentative flows. The table must not hold the flow yet.
   */
  open(header: Uint8Array, at: number, route: FlowRoute, now: number): Flow | undefined {
    const source = sourceOf(header, at);
    const ofSource = this.#tentativeBySource.get(source) ?? 0;
    if (ofSource >= this.#limits.maxTentativePerSource) return undefined;
    this.#makeRoom();
    const flow = new Flow(header, at, hashFlow(header, at), route, now);
    const bucket = flow.hash & (this.#buckets.length - 1);
    flow.chained = this.#buckets[bucket];
    this.#buckets[bucket] = flow;
    this.#tentative.append(flow);
    // Making room may have changed the source's count.
    this.#tentativeBySource.set(source, (this.#tentativeBySource.get(source) ?? 0) + 1);
    return flow;
  }

  /** Keeps a proven flow from expiring; a tentative one has its fixed time. */
  touch(flow: Flow, now: number): void {
    if (!flow.proven) return;
    flow.seenAt = now;
    this.#proven.refresh(flow);
  }

  prove(flow: Flow, now: number): void {
    if (!flow.proven) {
      this.#leaveTentative(flow);
      flow.proven = true;
      this.#proven.append(flow);
    }
    this.touch(flow, now);
  }

  /** Forgets every flow whose time is over. */
  expire(now: number): void {
    this.#expired +=
      this.#expireList(this.#tentative, now - this.#limits.tentative) +
      this.#expireList(this.#proven, now - this.#limits.idle);
  }

  #expireList(list: FlowList, before: number): number {
    let count = 0;
    while (list.oldest && list.oldest.seenAt <= before) {
      this.#remove(list.oldest);
      count++;
    }
    return count;
  }

  #makeRoom(): void {
    const { maxFlows, maxTentative } = this.#limits;
    const full = this.#tentative.size + this.#proven.size >= maxFlows;
    const victim =
      this.#tentative.size >= maxTentative
        ? this.#tentative.oldest
        : full
          ? (this.#proven.oldest ?? this.#tentative.oldest)
          : undefined;
    if (!victim) return;
    this.#remove(victim);
    this.#evicted++;
  }

  #remove(flow: Flow): void {
    if (flow.proven) this.#proven.remove(flow);
    else this.#leaveTentative(flow);
    const bucket = flow.hash & (this.#buckets.length - 1);
    const first = this.#buckets[bucket];
    if (first === flow) {
      this.#buckets[bucket] = flow.chained;
      return;
    }
    for (let other = first; other; other = other.chained) {
      if (other.chained === flow) other.chained = flow.chained;
    }
  }

  #leaveTentative(flow: Flow): void {
    this.#tentative.remove(flow);
    const source = sourceOf(flow.header, 0);
    const left = this.#tentativeBySource.get(source)! - 1;
    if (left === 0) this.#tentativeBySource.delete(source);
    else this.#tentativeBySource.set(source, left);
  }
}
