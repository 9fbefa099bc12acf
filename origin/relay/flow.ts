/** One client's path: to which transceiver its packets go, and whether that has been proven. */
import { TRUNK_HEADER_LENGTH } from '../../protocol/trunk.ts';
import type { Route } from '../../protocol/ufrag.ts';
import { copyBytes } from './bytes.ts';
import type { PendingChecks } from './pending-checks.ts';

/** What a token said, with the token itself. */
export interface FlowRoute extends Route {
  /** The ufrag's bytes. */
  readonly ufrag: Uint8Array;
}

export class Flow {
  /** The trunk header of the flow's packets: its key. */
  readonly header: Uint8Array;
  readonly hash: number;
  /** Where packets go that carry no token. */
  route: FlowRoute;
  /** True once a transceiver has answered a check; until then the flow is tentative. */
  proven = false;
  /** Checks whose answer would prove or re-point the flow. */
  pending: PendingChecks | undefined;
  /** Milliseconds since the Unix epoch: of the last packet, or of the start while tentative. */
  seenAt: number;
  /** Links of the table's chain and of its list by age. */
  chained: Flow | undefined;
  older: Flow | undefined;
  newer: Flow | undefined;

  constructor(header: Uint8Array, at: number, hash: number, route: FlowRoute, now: number) {
    this.header = copyBytes(header, at, at + TRUNK_HEADER_LENGTH);
    this.hash = hash;
    this.route = route;
    this.seenAt = now;
  }
}
