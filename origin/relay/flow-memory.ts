/** The memory of a flow table, shared by all threads of a relay, and what bounds it. */
import { randomFillSync } from 'node:crypto';
import { requireInteger } from '../../protocol/integer.ts';
import { OWNER_BYTES, ownersMemory, type OwnersMemory } from './flow-owners.ts';
import { FLOW_BYTES } from './flow.ts';
import { HASH_KEY_WORDS } from './keyed-hash.ts';

export interface FlowLimits {
  /** Milliseconds without a packet from the client after which a proven flow is forgotten. */
  readonly idle: number;
  /** Milliseconds a flow may wait for its proof. */
  readonly tentative: number;
  /**
   * Milliseconds without a check that carries a proven flow's own token after which another token may
   * move the flow to another transceiver.
   */
  readonly tokenQuiet: number;
  readonly maxFlows: number;
  readonly maxTentative: number;
  /** Tentative flows of one IPv4 address or IPv6 /64, of which the oldest then yield to new ones. */
  readonly maxTentativePerSource: number;
  /** Flows that one token may have at a time, of which silent ones then yield to new ones. */
  readonly maxPerToken: number;
}

/**
 * Clients check every 2 to 6 s (RFC 7675 §5.1), so an idle flow is a dead one long before. `tokenQuiet`
 * is longer than two such pauses: one lost check leaves nobody's flow to another, and a client whose
 * port a NAT has taken from another waits no longer than that. One token is for one client, whose port
 * a NAT may still change four times a second.
 */
export const FLOW_LIMITS: FlowLimits = {
  idle: 60_000,
  tentative: 5_000,
  tokenQuiet: 15_000,
  maxFlows: 1_000_000,
  maxTentative: 65_536,
  maxTentativePerSource: 256,
  maxPerToken: 256,
};

/** Flows that may share a line of the index, in any order: one cache line of 32-bit entries. */
export const LINE_ENTRIES = 16;

/** In a full table, so that hardly ever more than fit want to share a line. */
const FLOWS_PER_LINE = 4;

/** An entry of the index has 24 bits for the number of a flow, which begins with 1. */
export const MAX_FLOWS = 0xff_ff_ff;

/** Milliseconds of which a signed 32-bit difference of clock readings is still right. */
const MAX_DURATION = 0x7f_ff_ff_ff;

/** Bytes of the index per flow, at most: the number of lines is a power of two. */
const INDEX_BYTES_PER_FLOW = (2 * LINE_ENTRIES * Int32Array.BYTES_PER_ELEMENT) / FLOWS_PER_LINE;

/** What a flow takes at most, all told. The system lends most of it only as flows come. */
export const BYTES_PER_FLOW = FLOW_BYTES + INDEX_BYTES_PER_FLOW + 2 * OWNER_BYTES;

/** Words of the control block, written under the lock. */
export const LOCK = 0;
/** Of all hashes of the table, two words: random, so that nobody can choose addresses that share a line. */
export const HASH_KEY = 1;
/** The flow number that was freed last; 0 when none is free. */
export const FREE = HASH_KEY + HASH_KEY_WORDS;
/** The highest flow number ever in use. */
export const HIGHEST = FREE + 1;
/** The flow number that the search for a victim looked at last. */
export const HAND = HIGHEST + 1;
/** Ends of the list of tentative flows, as places of flows; 0 for none. */
export const OLDEST = HAND + 1;
export const NEWEST = OLDEST + 1;
export const TENTATIVE_COUNT = NEWEST + 1;
export const PROVEN_COUNT = TENTATIVE_COUNT + 1;
const CONTROL_WORDS = 16;

/** Places of the totals, 64-bit floats behind the control words. */
export const EXPIRED_TOTAL = 0;
export const EVICTED_TOTAL = 1;
export const OPENED_TOTAL = 2;
export const RESTORED_TOTAL = 3;
export const HANDED_OVER_TOTAL = 4;
const TOTALS = 5;
export const TOTALS_OFFSET = CONTROL_WORDS * Int32Array.BYTES_PER_ELEMENT;

/** Made once, by the main thread, and handed to each thread as it is. */
export interface FlowMemory {
  readonly limits: FlowLimits;
  readonly control: SharedArrayBuffer;
  /** The index: lines of entries, see {@link LINE_ENTRIES}. */
  readonly lines: SharedArrayBuffer;
  readonly flows: SharedArrayBuffer;
  /** Tentative flows by source. */
  readonly sources: OwnersMemory;
  /** Flows by token. */
  readonly tokens: OwnersMemory;
}

/** @throws RangeError that names the limit that cannot be. */
export function flowMemory(limits: FlowLimits = FLOW_LIMITS): FlowMemory {
  requireInteger('maxFlows', limits.maxFlows, 1, MAX_FLOWS);
  requireInteger('maxTentative', limits.maxTentative, 1, MAX_FLOWS);
  requireInteger('idle', limits.idle, 1, MAX_DURATION);
  requireInteger('tentative', limits.tentative, 1, MAX_DURATION);
  requireInteger('tokenQuiet', limits.tokenQuiet, 0, MAX_DURATION);
  const { maxFlows, maxTentative } = limits;
  const lines = 2 ** Math.ceil(Math.log2(Math.max(1, maxFlows / FLOWS_PER_LINE)));
  const tentative = Math.min(maxFlows, maxTentative);
  const control = new SharedArrayBuffer(TOTALS_OFFSET + TOTALS * Float64Array.BYTES_PER_ELEMENT);
  randomFillSync(new Int32Array(control, HASH_KEY * 4, HASH_KEY_WORDS));
  return {
    limits,
    control,
    lines: new SharedArrayBuffer(lines * LINE_ENTRIES * Int32Array.BYTES_PER_ELEMENT),
    flows: new SharedArrayBuffer((maxFlows + 1) * FLOW_BYTES),
    sources: ownersMemory(tentative, maxFlows),
    // A call has one flow most of the time, and its count is far from the limit even with others'.
    tokens: ownersMemory(maxFlows / FLOWS_PER_LINE, maxFlows),
  };
}
