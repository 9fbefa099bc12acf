/**
 * Checks on their way to a transceiver, by transaction id (RFC 8489 §5), within a flow's words. All here
 * is done under the table's lock.
 */
import { TRANSACTION_ID_LENGTH } from '../../protocol/stun.ts';
import { ASKED, ASKED_AT, ASKS, ASK_IDS, PENDING_CHECKS, STATE, clock32, elapsed } from './flow.ts';
import type { KeyedHash } from './keyed-hash.ts';

/** Milliseconds after the last check in which an answer counts. */
export const CHECK_LIFETIME = 5_000;

/**
 * Stands for a transaction id, 12 bytes, in one word. Only peers can answer, so it need not withstand
 * guessing; with a secret key nobody can choose ids that look alike either.
 */
export function hashTransaction(bytes: Uint8Array, at: number, keyed: KeyedHash): number {
  return keyed.bytes(bytes, at, TRANSACTION_ID_LENGTH);
}

/** Forgets the oldest check when there is no room. */
export function addCheck(flows: Int32Array, place: number, id: number, now: number): void {
  const asks = flows[place + ASKS]!;
  flows[place + ASK_IDS + (asks % PENDING_CHECKS)] = id;
  // Counts on without ever becoming less than what is remembered.
  flows[place + ASKS] = asks + 1 === 2 * PENDING_CHECKS ? PENDING_CHECKS : asks + 1;
  flows[place + ASKED_AT] = clock32(now);
  flows[place + STATE]! |= ASKED;
}

/** Whether this id answers a check of the flow, in time. */
export function hasCheck(flows: Int32Array, place: number, id: number, now: number): boolean {
  if (elapsed(clock32(now), flows[place + ASKED_AT]!) > CHECK_LIFETIME) return false;
  const known = Math.min(flows[place + ASKS]!, PENDING_CHECKS);
  for (let i = 0; i < known; i++) if (flows[place + ASK_IDS + i] === id) return true;
  return false;
}

export function clearChecks(flows: Int32Array, place: number): void {
  flows[place + ASKS] = 0;
  flows[place + STATE]! &= ~ASKED;
}
