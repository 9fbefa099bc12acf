/** Why a relay drops packets and ends connections. */

/** Every reason for a drop, with what it means and, where there is something to do, what. */
export const NO_DROPS = {
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
  /** A datagram that the system had no room for: the link is full, or the socket's buffer is small. */
  'queue-full': 0,
};

export type DropReason = keyof typeof NO_DROPS;

/** Every reason for which a relay itself ends a client’s TCP connection. */
export const NO_CLOSES = {
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
