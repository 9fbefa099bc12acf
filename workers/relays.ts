/** Which relays an answer names. */
import type { SteeringCluster } from '../protocol/footprint.ts';
import type { RelayAddress } from '../protocol/signature.ts';

/**
 * The relays of the region that takes the media, then those of the session's own region: ICE falls
 * back to them when the former are dead, which the edge cannot know. Regions that share their
 * addresses, as by anycast, name each once.
 */
export function relaysFor(ingress: SteeringCluster, home: SteeringCluster): RelayAddress[] {
  const relays = [...ingress.relays, ...home.relays];
  return [...new Map(relays.map((relay) => [keyOf(relay), relay])).values()];
}

function keyOf({ address, port, transport }: RelayAddress): string {
  return `${address} ${port} ${transport}`;
}
