/** What a relay counts. Nothing is dropped without a reason that an operator can look up. */

/** Every reason for a drop, with what it means and, where there is something to do, what. */
const NO_DROPS = {
  /** The packet is larger than any path the relay serves can carry. */
  oversized: 0,
  /** The first byte is not that of STUN, DTLS, RTP or RTCP (RFC 7983). */
  'not-media': 0,
  /** It begins like STUN and is not one whole message. */
  'malformed-stun': 0,
  /** The sender has no flow yet; its next connectivity check makes one. */
  'no-flow': 0,
  /** The check names a server ufrag that is not of this service. */
  'malformed-ufrag': 0,
  /** The ufrag was sealed with a key this relay lacks: compare ROUTING_KEYS. */
  'unknown-key': 0,
  /** The ufrag was not sealed with our key. */
  forged: 0,
  /** The session has reached its longest duration. */
  expired: 0,
  /** There is no route to the cluster: compare the footprint of edge and relay. */
  'unknown-cluster': 0,
  /** The cluster has no such transceiver: it ended, or the directory is stale. */
  'unknown-transceiver': 0,
  /** A peer sent what belongs to another cluster: compare the routes of both. */
  'wrong-cluster': 0,
  /** Too many unproven flows come from one address. */
  'tentative-limit': 0,
  /** Too many addresses use one token. */
  'token-limit': 0,
  /** Nothing can be sent to the address: port 0, or not of the socket’s family. */
  'unusable-address': 0,
  /** It came to the trunk from outside the peers: check CIDRs and firewall. */
  'foreign-peer': 0,
  /** The rest of a trunk datagram is not a whole frame. */
  'malformed-trunk': 0,
  /** A reply is for a relay outside the peers: check the CIDRs. */
  'foreign-proxy': 0,
  /** A reply names a listener this relay does not have. */
  'unknown-listener': 0,
  /** The frame was passed on before: check that routes name the right region’s relays. */
  loop: 0,
  /** The TCP connection of the client is gone. */
  'no-connection': 0,
  /** The client’s TCP connection takes less than it is sent; media must not wait there. */
  congested: 0,
};

export type DropReason = keyof typeof NO_DROPS;

/** Every reason for which a relay itself ends a client’s TCP connection. */
const NO_CLOSES = {
  /** It began with something else than a connectivity check: no client of ours. */
  'not-a-check': 0,
  /** A frame, or the first one of all, was not whole in time. */
  'slow-frame': 0,
  /** A frame is longer than any packet the relay serves. */
  'oversized-frame': 0,
  /** No transceiver confirmed a check in time: the drops say why, or the client’s password is wrong. */
  unanswered: 0,
  /** The client said nothing for long. */
  idle: 0,
  /** There are too many: all in all, or for the system’s limit of open files. */
  'too-many': 0,
  /** There are too many of one IPv4 address or IPv6 /64. */
  'too-many-of-one': 0,
};

export type CloseReason = keyof typeof NO_CLOSES;

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

/** What is known of the flows at this moment, and of those that ended. */
export interface FlowGauges {
  readonly tentative: number;
  readonly proven: number;
  /** Flows forgotten because they were idle, and to make room. */
  readonly expired: number;
  readonly evicted: number;
}

/** Plain JSON. All but `flows` only ever grows. */
export interface RelayCounters {
  readonly fromClients: Traffic;
  readonly toClients: Traffic;
  /** Frames accepted from peers; a datagram can hold several. */
  readonly fromTrunk: Traffic;
  readonly toTrunk: Traffic;
  readonly drops: Record<DropReason, number>;
  /** Datagrams that the system refused to send. */
  readonly sendErrors: number;
  /** Flows at this moment. */
  readonly flows: { tentative: number; proven: number };
  /** Flows forgotten because they were idle, or to make room. */
  readonly expiredFlows: number;
  readonly evictedFlows: number;
  /** Proven flows that moved to another transceiver. */
  readonly repointings: number;
  readonly tcp: TcpCounters;
}

/** Where a packet came from or went to; its packets are counted there and its bytes behind. */
export const FROM_CLIENTS = 0;
export const TO_CLIENTS = 2;
export const FROM_TRUNK = 4;
export const TO_TRUNK = 6;
export type Way = typeof FROM_CLIENTS | typeof TO_CLIENTS | typeof FROM_TRUNK | typeof TO_TRUNK;

const SEND_ERRORS = 8;
const REPOINTINGS = 9;
const TCP_ACCEPTED = 10;
const TCP_ENDED = 11;
const FIRST_DROP = 12;

const DROP_SLOTS = slotsOf(NO_DROPS, FIRST_DROP);
const FIRST_CLOSE = FIRST_DROP + DROP_SLOTS.size;
const CLOSE_SLOTS = slotsOf(NO_CLOSES, FIRST_CLOSE);
const SLOTS = FIRST_CLOSE + CLOSE_SLOTS.size;

/** What one thread counts; others read it at any time. A double counts exactly to 2^53. */
export class Counters {
  /** May be handed to another thread, whose counters on it show the same counts. */
  readonly memory: SharedArrayBuffer;
  readonly #slots: Float64Array;

  constructor(memory = new SharedArrayBuffer(SLOTS * 8)) {
    this.memory = memory;
    this.#slots = new Float64Array(memory);
  }

  packet(way: Way, bytes: number): void {
    this.#slots[way]!++;
    this.#slots[way + 1]! += bytes;
  }

  drop(reason: DropReason): void {
    this.#slots[DROP_SLOTS.get(reason)!]!++;
  }

  sendError(): void {
    this.#slots[SEND_ERRORS]!++;
  }

  repointing(): void {
    this.#slots[REPOINTINGS]!++;
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
  const traffic = (way: Way): Traffic => ({ packets: sum(way), bytes: sum(way + 1) });
  const drops = { ...NO_DROPS };
  for (const [reason, slot] of DROP_SLOTS) drops[reason] = sum(slot);
  const closed = { ...NO_CLOSES };
  for (const [reason, slot] of CLOSE_SLOTS) closed[reason] = sum(slot);
  const accepted = sum(TCP_ACCEPTED);
  return {
    fromClients: traffic(FROM_CLIENTS),
    toClients: traffic(TO_CLIENTS),
    fromTrunk: traffic(FROM_TRUNK),
    toTrunk: traffic(TO_TRUNK),
    drops,
    sendErrors: sum(SEND_ERRORS),
    flows: { tentative: flows.tentative, proven: flows.proven },
    expiredFlows: flows.expired,
    evictedFlows: flows.evicted,
    repointings: sum(REPOINTINGS),
    tcp: { open: accepted - sum(TCP_ENDED), accepted, closed },
  };
}

function slotsOf<T extends object>(
  counts: T,
  first: number,
): Map<Extract<keyof T, string>, number> {
  const slots = new Map<Extract<keyof T, string>, number>();
  for (const reason in counts) slots.set(reason, first + slots.size);
  return slots;
}
