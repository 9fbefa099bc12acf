/** Calls that were placed before: whatever API a client uses, its id leads to the transceiver that has it. */
import type { CallRef } from '../protocol/call-id.ts';
import type { SteeringCluster } from '../protocol/footprint.ts';
import { problemResponse } from '../protocol/problem.ts';
import { giveBackEnded } from './admission.ts';
import { footprintFor, tenantOf, type EdgeContext, placeFor } from './edge.ts';
import { endSession, originOf, patchSession, type PatchClaims } from './forward.ts';
import { edgeKeys } from './keys.ts';
import { failed, logFailure } from './origin-failure.ts';
import { SESSION_LIFETIME } from './session-lifetime.ts';
import { relaysFor } from './relays.ts';
import { steer } from './steering.ts';

/** If-Match of an ICE restart (RFC 9725 §4.3.3). */
export const ANY_ICE = '*';

/** Media type of the fragments by which ICE is changed (RFC 8840 §9). */
export const FRAGMENT_CONTENT_TYPE = 'application/trickle-ice-sdpfrag';

/** Milliseconds the end or a change of a call may take. */
const CHANGE_TIMEOUT = 5_000;

/** What the id says, if it was given out to this tenant; another's call is as good as none. */
export function refOf(context: EdgeContext, id: string): CallRef | undefined {
  const ref = edgeKeys(context.env).callIds.open(id);
  return ref?.tenant === tenantOf(context) ? ref : undefined;
}

/** Ends the call: 200, or the problem. */
export async function endHeldCall(context: EdgeContext, id: string): Promise<Response> {
  const held = await find(context, id);
  if (!held) return callNotFound();
  const { cluster, ref } = held;
  const { transceiver, call, tenant } = ref;
  const requestId = context.get('requestId');
  const claims = { op: 'end', requestId, transceiver, call, tenant } as const;
  const origin = originOf(cluster, edgeKeys(context.env), CHANGE_TIMEOUT);
  const outcome = await endSession(origin, claims);
  if (outcome.outcome === 'ended') {
    await giveBackEnded(context, ref);
    return new Response(null, { status: 200 });
  }
  // What was not there may have been counted as another, so its place is not given back here.
  if (outcome.outcome === 'unknown-call') return callNotFound();
  logFailure(context, cluster, transceiver, outcome);
  return failed(outcome);
}

/**
 * Trickles candidates (204) or restarts ICE (200 with a fragment and the next ETag), or says why not. A restart
 * has a fresh ufrag with the route of before, and the relays nearest to where the client is by now.
 *
 * @param ifMatch The entity-tag of the ICE the fragment is of, or {@link ANY_ICE} to restart it.
 */
export async function patchHeldCall(
  context: EdgeContext,
  id: string,
  ifMatch: string,
  fragment: string,
): Promise<Response> {
  const held = await find(context, id);
  if (!held) return callNotFound();
  const { cluster, ref } = held;
  const keys = edgeKeys(context.env);
  const { transceiver, call, tenant } = ref;
  const common = { requestId: context.get('requestId'), transceiver, call, tenant };
  let claims: PatchClaims = { op: 'trickle', ...common };
  if (ifMatch.trim() === ANY_ICE) {
    const { ingress } = steer(await footprintFor(context), placeFor(context));
    const expiresAt = Date.now() + SESSION_LIFETIME;
    const ufrag = keys.ufrags.seal({ cluster: ref.cluster, transceiver, expiresAt });
    claims = { op: 'restart', ...common, ufrag, relays: relaysFor(ingress ?? cluster, cluster) };
  }
  const origin = originOf(cluster, keys, CHANGE_TIMEOUT);
  const outcome = await patchSession(origin, claims, ifMatch, fragment);
  if (outcome.outcome === 'trickled') return new Response(null, { status: 204 });
  if (outcome.outcome === 'restarted') {
    const headers = { 'content-type': FRAGMENT_CONTENT_TYPE, etag: outcome.etag };
    return new Response(outcome.fragment, { status: 200, headers });
  }
  if (outcome.outcome === 'refused') return problemResponse(outcome.name, outcome.detail);
  logFailure(context, cluster, transceiver, outcome);
  return failed(outcome);
}

export function callNotFound(): Response {
  return problemResponse('call-not-found', 'The call has ended, or never was.');
}

async function find(
  context: EdgeContext,
  id: string,
): Promise<{ ref: CallRef; cluster: SteeringCluster } | undefined> {
  const ref = refOf(context, id);
  if (!ref) return undefined;
  const { clusters } = await footprintFor(context);
  const cluster = clusters.find((it) => it.cluster === ref.cluster);
  return cluster && { ref, cluster };
}
