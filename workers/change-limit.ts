/**
 * How often a call may be changed or ended: each costs its origin a request. The limit is that of each call, for one
 * client's must not be what stops another's, and starts bound how many calls there are.
 */
import type { CallRef } from '../protocol/call-id.ts';
import { problemResponse } from '../protocol/problem.ts';
import type { EdgeContext } from './edge.ts';

/** In a minute at one colo, as CALLS_60 counts them: a client that trickles each candidate alone stays below. */
export const CHANGES_PER_MINUTE = 60;

/** Seconds until the client may come again: the period of the limit. */
const RETRY_AFTER = '60';

/** Counts a request; undefined while there are not too many. Ends count apart, so that changes stop none. */
export async function refuseChange(
  { env }: EdgeContext,
  kind: 'change' | 'end',
  { call }: CallRef,
): Promise<Response | undefined> {
  // No tenant's name has a space, so it is none's key.
  const { success } = await env.CALLS_60.limit({ key: `${kind} ${call}` });
  if (success) return undefined;
  const detail = `A call may be changed ${CHANGES_PER_MINUTE} times a minute, and be ended as often.`;
  return problemResponse('too-many-changes', detail, { 'retry-after': RETRY_AFTER });
}
