/**
 * Whose checks a flow remembers when several tokens ask for it. With each check from a client's address a
 * stranger who has sessions of his own could push the client's out before they are answered. So a flow
 * changes to another token at once only as long as that does not go back and forth; else tokens draw lots,
 * anew for each turn, and how often one asks does not count.
 */
import type { FlowStore } from './flow-store.ts';
import { ASKS, TURN_AT } from './flow.ts';

/** Bits of the milliseconds that a turn takes: about a second, in which a client checks at least once. */
const TURN_BITS = 10;

const drawn = new Int32Array(2);

/** Whether a token may take the place of the one that holds it, both given as their hashes. */
export function mayTakeTurn(
  { flows, keyed }: Pick<FlowStore, 'flows' | 'keyed'>,
  place: number,
  holder: number,
  challenger: number,
  now32: number,
): boolean {
  const turn = now32 >> TURN_BITS;
  if (flows[place + ASKS] === 0 || flows[place + TURN_AT]! >> TURN_BITS !== turn) return true;
  const lot = (token: number): number => {
    drawn[0] = token;
    drawn[1] = turn;
    return keyed.words(drawn, 0, drawn.length);
  };
  return lot(challenger) < lot(holder);
}

export function noteTurn(flows: Int32Array, place: number, now32: number): void {
  flows[place + TURN_AT] = now32;
}

/** So that the next token need not wait for its turn. */
export function startTurns(flows: Int32Array, place: number, now32: number): void {
  flows[place + TURN_AT] = now32 - (1 << TURN_BITS);
}
