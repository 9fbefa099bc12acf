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
};

export type DropReason = keyof typeof NO_DROPS;

export interface Traffic {
  packets: number;
  /** Bytes of payload: without UDP, IP and trunk headers. */
  bytes: number;
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
  sendErrors: number;
  /** Flows at this moment. */
  readonly flows: { tentative: number; proven: number };
  /** Flows forgotten because they were idle, or to make room. */
  expiredFlows: number;
  evictedFlows: number;
  /** Proven flows that moved to another transceiver. */
  repointings: number;
}

export function newCounters(): RelayCounters {
  return {
    fromClients: { packets: 0, bytes: 0 },
    toClients: { packets: 0, bytes: 0 },
    fromTrunk: { packets: 0, bytes: 0 },
    toTrunk: { packets: 0, bytes: 0 },
    drops: { ...NO_DROPS },
    sendErrors: 0,
    flows: { tentative: 0, proven: 0 },
    expiredFlows: 0,
    evictedFlows: 0,
    repointings: 0,
  };
}

export function count(traffic: Traffic, bytes: number): void {
  traffic.packets++;
  traffic.bytes += bytes;
}
