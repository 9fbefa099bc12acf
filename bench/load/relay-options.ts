/** What the relay of the load of flows is told. */
import type { TrunkAddress } from '../../protocol/footprint.ts';

/** The environment variable that holds {@link FlowRelayOptions} as JSON. */
export const FLOW_RELAY_VARIABLE = 'LOAD_RELAY';

/** The cluster of tokens, and its one transceiver. */
export const CLUSTER = 1;
export const TRANSCEIVER = 1;

export interface FlowRelayOptions {
  readonly listener: TrunkAddress;
  readonly trunk: TrunkAddress;
  readonly transceiver: TrunkAddress;
  /** Text of `protocol/routing-keys.ts`. */
  readonly routingKeys: string;
  /** Milliseconds without a packet after which a flow is forgotten. */
  readonly idle: number;
}
