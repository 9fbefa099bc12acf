/** What each reason for a drop means, and what to do about it; docs/relay.md says the same. */
import type { DropReason } from '../../origin/relay/drops.ts';

export interface DropMeaning {
  readonly means: string;
  readonly todo: string;
}

const NOTHING = 'Nothing';

export const DROP_MEANINGS: Readonly<Record<DropReason, DropMeaning>> = {
  'not-media': {
    means: 'Neither STUN, DTLS, RTP nor RTCP',
    todo: 'Nothing: noise of the Internet',
  },
  'malformed-stun': { means: 'Begins like STUN and is not a whole message', todo: NOTHING },
  oversized: { means: 'Larger than any path carries', todo: NOTHING },
  'malformed-ufrag': { means: 'The check is for no ufrag of this service', todo: NOTHING },
  forged: {
    means: 'The ufrag was not sealed with our key',
    todo: 'If it grows with calls that fail: compare the routing keys',
  },
  'unknown-key': {
    means: 'The ufrag names a key this relay lacks',
    todo: 'Bring `routingKeys` up to date',
  },
  expired: { means: 'The session has reached its longest duration', todo: NOTHING },
  'no-flow': {
    means: 'Nobody knows the sender yet; its next check makes a flow',
    todo: "If it stays after a restart: look at the checks' reasons",
  },
  'unknown-cluster': {
    means: "No route to the ufrag's cluster",
    todo: 'Compare the footprint of edge and relay',
  },
  'unknown-transceiver': {
    means: 'The cluster has no such transceiver',
    todo: 'See whether it runs and announces itself',
  },
  'wrong-cluster': {
    means: 'A peer sent what belongs to another cluster',
    todo: 'Compare the routes of both',
  },
  loop: {
    means: 'The frame was passed on before',
    todo: "See that routes name the right region's relays",
  },
  'tentative-limit': {
    means: 'Too many unproven flows from one address',
    todo: 'An attack, or many clients behind one NAT without an answer',
  },
  'token-limit': {
    means: 'Too many addresses use one token',
    todo: 'A token that was shared or stolen',
  },
  'unusable-address': { means: "Port 0, or not of the socket's family", todo: NOTHING },
  'foreign-peer': {
    means: 'Came to the trunk from outside `peers`',
    todo: 'Check CIDRs and the firewall',
  },
  'foreign-proxy': { means: 'A reply is for a relay outside `peers`', todo: 'Check the CIDRs' },
  'malformed-trunk': {
    means: 'The rest of a trunk datagram is no frame',
    todo: 'See that peers run a release that fits',
  },
  'unknown-listener': {
    means: 'A reply names a listener this relay does not have',
    todo: 'Transient after a change of listeners',
  },
  'no-connection': { means: "The client's TCP connection is gone", todo: NOTHING },
  congested: {
    means: "The client's TCP connection takes less than it is sent",
    todo: 'Nothing: its network is slow',
  },
  'queue-full': {
    means: 'The system had no room for a datagram',
    todo: 'Grow `net.core.wmem_max`; see whether the link is full',
  },
};
