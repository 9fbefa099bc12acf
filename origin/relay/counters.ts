/** What a relay counts. Nothing is dropped without a reason that an operator can look up. */
import { NO_CLOSES, NO_DROPS, type CloseReason, type DropReason } from './drops.ts';
import { Histogram, histogramSlots, sumHistograms, type HistogramCounts } from './histogram.ts';
import type { RecoveryCounters } from './recovery/flow-recovery.ts';
import {
  TOKEN_CHECK_SLOTS,
  TokenChecks,
  sumTokenChecks,
  type TokenCheckCount,
} from './token-checks.ts';

export type { CloseReason, DropReason } from './drops.ts';

/** Clients’ TCP connections. */
export interface TcpCounters {
  /** At this moment. */
  readonly open: number;
  readonly accepted: number;
  readonly closed: Record<CloseReason, number>;
}

export interface Traffic {
  packets: number;
  /** Bytes of payload: without UDP, IP and trunk headers. */
  bytes: number;
}

/** What a packet begins like (RFC 7983); `rtp` with RTCP, `other` is nothing that a relay forwards. */
export const PACKET_CLASSES = ['stun', 'dtls', 'rtp', 'other'] as const;
export type PacketClass = (typeof PACKET_CLASSES)[number];

/** What is known of the flows at this moment, and of those that ended. */
export interface FlowGauges {
  readonly tentative: number;
  readonly proven: number;
  /** Flows forgotten because they were idle, and to make room. */
  readonly expired: number;
  readonly evicted: number;
  /** Flows made for a check, restored from Redis, and taken over from the process before. */
  readonly opened: number;
  readonly restored: number;
  readonly handedOver: number;
}

/** A client's check, Redis, or the process whose place this one took. */
export type FlowSource = 'stun' | 'redis' | 'hand-over';

/** Flows that threads looked for, and the packets that waited for them. */
export interface LookupCounters {
  readonly flows: number;
  /** Packets held back meanwhile, and those of them that went on; the others count as drops. */
  readonly heldPackets: number;
  readonly releasedPackets: number;
}

/** Plain JSON. All but `flows` only ever grows. */
export interface RelayCounters {
  readonly fromClients: Traffic;
  readonly toClients: Traffic;
  /** Frames accepted from peers; a datagram can hold several. */
  readonly fromTrunk: Traffic;
  readonly toTrunk: Traffic;
  /** The same traffic by what packets are. */
  readonly classes: Record<WayName, Record<PacketClass, Traffic>>;
  readonly drops: Record<DropReason, number>;
  /** Datagrams that the system refused to send. */
  readonly sendErrors: number;
  /** Flows at this moment. */
  readonly flows: { tentative: number; proven: number };
  /** Flows forgotten because they were idle, or to make room. */
  readonly expiredFlows: number;
  readonly evictedFlows: number;
  /** Flows that began, by what made them; a thread finds those of the others in the one table. */
  readonly createdFlows: Record<FlowSource, number>;
  /** Proven flows that moved to another transceiver. */
  readonly repointings: number;
  /** What was done to find flows that packets lacked; all 0 without a Redis. */
  readonly lookups: LookupCounters;
  /** What Redis was asked and told, where the relay has one. */
  readonly recovery?: RecoveryCounters | undefined;
  readonly tokenChecks: readonly TokenCheckCount[];
  /** Packets that were received at once. */
  readonly batchPackets: HistogramCounts;
  /** Seconds from a packet's receipt to when it was sent on, of one batch in {@link LATENCY_SAMPLE}. */
  readonly forwardLatency: HistogramCounts;
  readonly tcp: TcpCounters;
}

/**
 * Where a packet came from or went to. Counted there are packets and, behind, bytes, for each of
 * {@link PACKET_CLASSES}.
 */
export const FROM_CLIENTS = 0;
export const TO_CLIENTS = 8;
export const FROM_TRUNK = 16;
export const TO_TRUNK = 24;
const WAYS = {
  fromClients: FROM_CLIENTS,
  toClients: TO_CLIENTS,
  fromTrunk: FROM_TRUNK,
  toTrunk: TO_TRUNK,
} as const;
export type WayName = keyof typeof WAYS;
export type Way = (typeof WAYS)[WayName];

/** By a packet's first byte, where its class is counted. */
const CLASS_SLOTS = Uint8Array.from({ length: 256 }, (_, first) => 2 * classOf(first));
const OTHER_SLOT = 2 * PACKET_CLASSES.indexOf('other');

/** Batches of which one is timed: reading the clock costs as much as some packets. */
export const LATENCY_SAMPLE = 64;

/** Bounds of the histograms. */
const BATCH_PACKETS = [1, 2, 4, 8, 16, 32, 64];
const LATENCY_SECONDS = [
  10e-6, 25e-6, 50e-6, 100e-6, 250e-6, 500e-6, 1e-3, 2.5e-3, 5e-3, 10e-3, 50e-3, 250e-3,
];

const SEND_ERRORS = 32;
const REPOINTINGS = 33;
const TCP_ACCEPTED = 34;
const TCP_ENDED = 35;
const LOOKED_UP = 36;
const HELD = 37;
const RELEASED = 38;
const FIRST_DROP = 39;

const DROP_SLOTS = slotsOf(NO_DROPS, FIRST_DROP);
const FIRST_CLOSE = FIRST_DROP + DROP_SLOTS.size;
const CLOSE_SLOTS = slotsOf(NO_CLOSES, FIRST_CLOSE);
const FIRST_TOKEN_CHECK = FIRST_CLOSE + CLOSE_SLOTS.size;
const FIRST_BATCH = FIRST_TOKEN_CHECK + TOKEN_CHECK_SLOTS;
const FIRST_LATENCY = FIRST_BATCH + histogramSlots(BATCH_PACKETS);
const SLOTS = FIRST_LATENCY + histogramSlots(LATENCY_SECONDS);

/** What one thread counts; others read it at any time. A double counts exactly to 2^53. */
export class Counters {
  /** May be handed to another thread, whose counters on it show the same counts. */
  readonly memory: SharedArrayBuffer;
  readonly tokenChecks: TokenChecks;
  readonly batchPackets: Histogram;
  readonly forwardLatency: Histogram;
  readonly #slots: Float64Array;

  constructor(memory = new SharedArrayBuffer(SLOTS * 8)) {
    this.memory = memory;
    this.#slots = new Float64Array(memory);
    const part = (from: number, to: number): Float64Array => this.#slots.subarray(from, to);
    this.tokenChecks = new TokenChecks(part(FIRST_TOKEN_CHECK, FIRST_BATCH));
    this.batchPackets = new Histogram(BATCH_PACKETS, part(FIRST_BATCH, FIRST_LATENCY));
    this.forwardLatency = new Histogram(LATENCY_SECONDS, part(FIRST_LATENCY, SLOTS));
  }

  /** @param first Byte that a packet of any length begins with. */
  packet(way: Way, length: number, first: number): void {
    const slot = way + (length === 0 ? OTHER_SLOT : CLASS_SLOTS[first]!);
    this.#slots[slot]!++;
    this.#slots[slot + 1]! += length;
  }

  drop(reason: DropReason, count = 1): void {
    this.#slots[DROP_SLOTS.get(reason)!]! += count;
  }

  /** @param datagrams That were to be sent at once. */
  sendError(datagrams = 1): void {
    this.#slots[SEND_ERRORS]! += datagrams;
  }

  repointing(): void {
    this.#slots[REPOINTINGS]!++;
  }

  lookedUp(): void {
    this.#slots[LOOKED_UP]!++;
  }

  held(): void {
    this.#slots[HELD]!++;
  }

  released(): void {
    this.#slots[RELEASED]!++;
  }

  tcpAccepted(): void {
    this.#slots[TCP_ACCEPTED]!++;
  }

  /** @param reason Why the relay ended it; undefined when the client or the network did. */
  tcpEnded(reason: CloseReason | undefined): void {
    this.#slots[TCP_ENDED]!++;
    if (reason !== undefined) this.tcpClosed(reason);
  }

  /** A connection that was not even accepted. */
  tcpClosed(reason: CloseReason): void {
    this.#slots[CLOSE_SLOTS.get(reason)!]!++;
  }

  slot(i: number): number {
    return this.#slots[i]!;
  }
}

/** The sum over a relay's threads. */
export function sumCounters(threads: readonly Counters[], flows: FlowGauges): RelayCounters {
  const sum = (slot: number): number =>
    threads.reduce((total, counters) => total + counters.slot(slot), 0);
  const classes = (way: Way): Record<PacketClass, Traffic> => {
    const at = (i: number): Traffic => ({ packets: sum(way + 2 * i), bytes: sum(way + 2 * i + 1) });
    return { stun: at(0), dtls: at(1), rtp: at(2), other: at(3) };
  };
  const byClass = {
    fromClients: classes(FROM_CLIENTS),
    toClients: classes(TO_CLIENTS),
    fromTrunk: classes(FROM_TRUNK),
    toTrunk: classes(TO_TRUNK),
  };
  const drops = { ...NO_DROPS };
  for (const [reason, slot] of DROP_SLOTS) drops[reason] = sum(slot);
  const closed = { ...NO_CLOSES };
  for (const [reason, slot] of CLOSE_SLOTS) closed[reason] = sum(slot);
  const accepted = sum(TCP_ACCEPTED);
  return {
    fromClients: allOf(byClass.fromClients),
    toClients: allOf(byClass.toClients),
    fromTrunk: allOf(byClass.fromTrunk),
    toTrunk: allOf(byClass.toTrunk),
    classes: byClass,
    drops,
    sendErrors: sum(SEND_ERRORS),
    flows: { tentative: flows.tentative, proven: flows.proven },
    expiredFlows: flows.expired,
    evictedFlows: flows.evicted,
    createdFlows: {
      stun: flows.opened,
      redis: flows.restored,
      'hand-over': flows.handedOver,
    },
    repointings: sum(REPOINTINGS),
    lookups: {
      flows: sum(LOOKED_UP),
      heldPackets: sum(HELD),
      releasedPackets: sum(RELEASED),
    },
    tokenChecks: sumTokenChecks(threads.map(({ tokenChecks }) => tokenChecks)),
    batchPackets: sumHistograms(threads.map(({ batchPackets }) => batchPackets)),
    forwardLatency: sumHistograms(threads.map(({ forwardLatency }) => forwardLatency)),
    tcp: { open: accepted - sum(TCP_ENDED), accepted, closed },
  };
}

function allOf(classes: Record<PacketClass, Traffic>): Traffic {
  const all = PACKET_CLASSES.map((name) => classes[name]);
  return {
    packets: all.reduce((sum, { packets }) => sum + packets, 0),
    bytes: all.reduce((sum, { bytes }) => sum + bytes, 0),
  };
}

/** RFC 7983 §7: its index in {@link PACKET_CLASSES}. */
function classOf(first: number): number {
  if (first <= 3) return 0;
  if (first >= 20 && first <= 63) return 1;
  return first >= 128 && first <= 191 ? 2 : 3;
}

function slotsOf<T extends object>(
  counts: T,
  first: number,
): Map<Extract<keyof T, string>, number> {
  const slots = new Map<Extract<keyof T, string>, number>();
  for (const reason in counts) slots.set(reason, first + slots.size);
  return slots;
}
