/** Sessions of tries that were given up: the transceiver may have made one whose answer never came. */
import { endSession, type CreateClaims, type CreateOutcome, type Origin } from './forward.ts';

/** Milliseconds one request to end an orphan may take. */
const END_TIMEOUT = 5_000;

/** Milliseconds until the second request, for a session that was yet to come when the first one did. */
const SECOND_LOOK = 2_000;

/** Whether there may be a session that nobody will use; an origin that says no has made none. */
export function mayLeaveOrphan({ outcome }: CreateOutcome): boolean {
  return outcome !== 'created' && outcome !== 'refused' && outcome !== 'busy';
}

/** Never rejects. What this does not find, the transceiver ends itself when no client comes to it. */
export async function removeOrphan(
  origin: Origin,
  { requestId, transceiver, call, tenant }: CreateClaims,
): Promise<void> {
  const claims = { op: 'end', requestId, transceiver, call, tenant } as const;
  const patient = { ...origin, timeout: END_TIMEOUT };
  let { outcome } = await endSession(patient, claims);
  if (outcome === 'unknown-call') {
    await scheduler.wait(SECOND_LOOK);
    ({ outcome } = await endSession(patient, claims));
  }
  if (outcome === 'ended') console.warn({ message: 'an orphan was ended', requestId, call });
}
