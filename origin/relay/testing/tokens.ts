/** The tests' routing key, and tokens sealed with it. */
import type { RoutingKey } from '../../../protocol/routing-keys.ts';
import { UfragCodec } from '../../../protocol/ufrag.ts';

export const HOUR = 3_600_000;
export const KEY: RoutingKey = { id: 'A', key: Buffer.alloc(16, 'relay test') };

/** A fresh token, good for an hour. */
export function ufragFor(
  cluster: number,
  transceiver: number,
  expiresAt = Date.now() + HOUR,
  key = KEY,
): string {
  return new UfragCodec([key]).seal({ cluster, transceiver, expiresAt });
}
