/** What a client and the log learn when an origin gives no good answer. */
import type { SteeringCluster } from '../protocol/footprint.ts';
import { problemResponse } from '../protocol/problem.ts';
import type { EdgeContext } from './edge.ts';
import type { OriginFailure } from './forward.ts';

/** Seconds after which a client that was turned away may come again. */
export const RETRY_AFTER = '2';

export const AGAIN = 'Try again in a moment.';

export function failed({ outcome }: OriginFailure): Response {
  if (outcome === 'busy') {
    return noCapacity(`Every transceiver that was asked is full. ${AGAIN}`, RETRY_AFTER);
  }
  if (outcome === 'timeout') {
    return problemResponse('gateway-timeout', 'The cluster is there but too slow; try again.');
  }
  return problemResponse('bad-gateway', 'The cluster cannot be reached as it should; try again.');
}

/** @param retryAfter Seconds. */
export function noCapacity(detail: string, retryAfter: string): Response {
  return problemResponse('no-capacity', detail, { 'retry-after': retryAfter });
}

export function logFailure(
  context: EdgeContext,
  { region, signaling }: SteeringCluster,
  transceiver: number,
  { outcome, detail }: OriginFailure,
): void {
  const requestId = context.get('requestId');
  console.warn({ message: `origin ${outcome}`, requestId, region, signaling, transceiver, detail });
}
