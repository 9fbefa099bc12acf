/**
 * How a flow gets its route from checks and their answers, in two phases: a check asks, the success that
 * a transceiver sends back decides. All here is done under the table's lock.
 */
import { stateOf, type FlowStore } from './flow-store.ts';
import {
  CANDIDATE_EXPIRY,
  CANDIDATE_TARGET,
  CANDIDATE_TOKEN,
  CHECKED_AT,
  EXPIRY,
  PROVEN,
  TARGET,
  TOKEN,
  TOKEN_HASH,
  TOKEN_WORDS,
  clock32,
  elapsed,
} from './flow.ts';
import type { Moment } from './moment.ts';
import { addCheck, clearChecks } from './pending-checks.ts';
import { expiresAtOf, type TokenRoute } from './token-route.ts';
import { mayTakeTurn, noteTurn } from './token-turns.ts';

/** What an answer did: the flow is proven; or goes to another transceiver; or has a newer token. */
export type FlowChange = 'proven' | 'moved' | 'renewed';

/** Whether a check with another token than the one that asks so far is to be remembered instead. */
export function mayAsk(store: FlowStore, place: number, route: TokenRoute, now: number): boolean {
  const { flows, keyed } = store;
  const isProven = stateOf(flows, place) === PROVEN;
  if (route.hasTokenAt(flows, place + (isProven ? CANDIDATE_TOKEN : TOKEN))) return true;
  const holder = isProven
    ? keyed.words(flows, place + CANDIDATE_TOKEN, TOKEN_WORDS)
    : flows[place + TOKEN_HASH]!;
  return mayTakeTurn(store, place, holder, route.tokenHash, clock32(now));
}

/** A check of a tentative flow, which takes its route at once: there is nothing to take away. */
export function askToProve(
  store: FlowStore,
  place: number,
  route: TokenRoute,
  id: number,
  now: number,
): void {
  const { flows } = store;
  if (!route.hasTokenAt(flows, place + TOKEN)) {
    store.reroute(place, route.target, route.expiry, route.token, 0, clock32(now));
    clearChecks(flows, place);
    noteTurn(flows, place, clock32(now));
  }
  addCheck(flows, place, id, now);
}

/** A check of a proven flow with another token than the flow's own. */
export function askToMove(
  { flows }: FlowStore,
  place: number,
  route: TokenRoute,
  id: number,
  now: number,
): void {
  if (!route.hasTokenAt(flows, place + CANDIDATE_TOKEN)) {
    flows[place + CANDIDATE_TARGET] = route.target;
    flows[place + CANDIDATE_EXPIRY] = route.expiry;
    flows.set(route.token, place + CANDIDATE_TOKEN);
    clearChecks(flows, place);
    noteTurn(flows, place, clock32(now));
  }
  addCheck(flows, place, id, now);
}

/** The answer to a check that the flow asked for. Undefined when it may not change the flow. */
export function answered(store: FlowStore, place: number, now: Moment): FlowChange | undefined {
  const { flows } = store;
  const now32 = clock32(now.steady);
  let change: FlowChange = 'proven';
  if (stateOf(flows, place) === PROVEN) {
    const target = flows[place + CANDIDATE_TARGET]!;
    change = target === flows[place + TARGET] ? 'renewed' : 'moved';
    if (change === 'moved' && !isUndefended(store, place, now)) return undefined;
    const tokenHash = store.keyed.words(flows, place + CANDIDATE_TOKEN, TOKEN_WORDS);
    const isOneMore = flows[place + TOKEN_HASH] !== tokenHash;
    if (isOneMore && !store.makeRoomOfToken(tokenHash, now32)) return undefined;
    const expiry = flows[place + CANDIDATE_EXPIRY]!;
    store.reroute(place, target, expiry, flows, place + CANDIDATE_TOKEN, now32);
  }
  clearChecks(flows, place);
  store.prove(place, now32);
  return change;
}

/**
 * Anyone who has a session can send its check from an address that is not his, and has it answered. Yet
 * the client at that address goes on to check with its own token, while one that has lost its port to
 * another client no longer does.
 */
function isUndefended({ flows, limits }: FlowStore, place: number, now: Moment): boolean {
  const quiet = elapsed(clock32(now.steady), flows[place + CHECKED_AT]!) >= limits.tokenQuiet;
  return quiet || expiresAtOf(flows[place + EXPIRY]!) <= now.wall;
}
