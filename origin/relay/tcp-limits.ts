/** What a relay grants to clients' TCP connections. */
export interface TcpLimits {
  /** Connections in all. */
  readonly maxConnections: number;
  /** Connections of one IPv4 address or IPv6 /64. */
  readonly maxPerSite: number;
  /** Milliseconds in which a frame must become whole, and from the start of all the first check. */
  readonly frame: number;
  /** Milliseconds from the start in which a transceiver must have confirmed a check. */
  readonly answer: number;
  /** Milliseconds without a packet from the client. */
  readonly idle: number;
  /** Bytes that wait for a client to take them, beyond what the system holds. */
  readonly maxQueued: number;
}

/**
 * A connection costs a file, and 2 kB where frames come in pieces; behind one address there may be an
 * office or a carrier's NAT. Clients check every 2 to 6 s (RFC 7675 §5.1), so `idle` means gone.
 */
export const TCP_LIMITS: TcpLimits = {
  maxConnections: 10_000,
  maxPerSite: 512,
  frame: 5_000,
  answer: 10_000,
  idle: 60_000,
  maxQueued: 64 * 1024,
};
