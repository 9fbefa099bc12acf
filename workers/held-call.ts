/** Calls that were placed before: whatever API a client uses, its id leads to the transceiver that has it. */
import { FRAGMENT_CONTENT_TYPE, MAX_FRAGMENT_BYTES } from '../protocol/ice-fragment.ts';
import type { CallRef } from '../protocol/call-id.ts';
import type { SteeringCluster } from '../protocol/footprint.ts';
import { problemResponse } from '../protocol/problem.ts';
import { giveBackEnded } from './admission.ts';
import { refuseChange } from './change-limit.ts';
import { backgroundOf, footprintFor, placeFor, tenantOf, type EdgeContext } from './edge.ts';
import { endSession, originOf, patchSession, type PatchOutcome } from './forward.ts';
import { edgeKeys } from './keys.ts';
import { failed, logFailure } from './origin-failure.ts';
import { SESSION_LIFETIME } from './session-lifetime.ts';
import { relaysFor } from './relays.ts';
import { steer } from './steering.ts';

/** If-Match of an ICE restart (RFC 9725 §4.3.3), which the example there has in quotes. */
export const ANY_ICE = '*';
const ANY_ICE_QUOTED = '"*"';

/** Characters of the longest If-Match looked into: many entity-tags. */
const MAX_IF_MATCH = 1024;

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
  const refusal = await refuseChange(context, 'end', ref);
  if (refusal) return refusal;
  const { transceiver, call, tenant } = ref;
  const requestId = context.get('requestId');
  const claims = { op: 'end', requestId, transceiver, call, tenant } as const;
  const origin = originOf(cluster, edgeKeys(context.env), CHANGE_TIMEOUT);
  const ending = endSession(origin, claims).then(async (ended) => {
    if (ended.outcome === 'ended') await giveBackEnded(context, ref);
    return ended;
  });
  // A page that closes ends its call and does not wait.
  backgroundOf(context)(ending);
  const outcome = await ending;
  if (outcome.outcome === 'ended') return new Response(null, { status: 200 });
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
  if (ifMatch.length > MAX_IF_MATCH) {
    return problemResponse('precondition-failed', 'No ETag was given out that is as long.');
  }
  const held = await find(context, id);
  if (!held) return callNotFound();
  const { cluster, ref } = held;
  const refusal = await refuseChange(context, 'change', ref);
  if (refusal) return refusal;
  const keys = edgeKeys(context.env);
  const { transceiver, call, tenant } = ref;
  const common = { requestId: context.get('requestId'), transceiver, call, tenant };
  const origin = originOf(cluster, keys, CHANGE_TIMEOUT);
  const restart = async (): Promise<PatchOutcome> => {
    const { ingress } = steer(await footprintFor(context), placeFor(context));
    const expiresAt = Date.now() + SESSION_LIFETIME;
    const ufrag = keys.ufrags.seal({ cluster: ref.cluster, transceiver, expiresAt });
    const relays = relaysFor(ingress ?? cluster, cluster);
    return patchSession(origin, { op: 'restart', ...common, ufrag, relays }, ANY_ICE, fragment);
  };
  const trickle = () => patchSession(origin, { op: 'trickle', ...common }, ifMatch, fragment);
  let outcome = isAnyIce(ifMatch) ? await restart() : await trickle();
  // RFC 9725 §4.3.3: new credentials are a restart, whatever else the request says.
  if (!isAnyIce(ifMatch) && isConflict(outcome)) outcome = await restart();
  if (outcome.outcome === 'trickled') return new Response(null, { status: 204 });
  if (outcome.outcome === 'restarted') {
    const headers = { 'content-type': FRAGMENT_CONTENT_TYPE, etag: outcome.etag };
    return new Response(outcome.fragment, { status: 200, headers });
  }
  if (outcome.outcome === 'refused') return problemResponse(outcome.name, outcome.detail);
  logFailure(context, cluster, transceiver, outcome);
  return failed(outcome);
}

function isAnyIce(ifMatch: string): boolean {
  return [ANY_ICE, ANY_ICE_QUOTED].includes(ifMatch.trim());
}

function isConflict(outcome: PatchOutcome): boolean {
  return outcome.outcome === 'refused' && outcome.name === 'conflict';
}

export function fragmentTooLarge(): Response {
  const detail = `A fragment has at most ${MAX_FRAGMENT_BYTES} bytes.`;
  return problemResponse('fragment-too-large', detail);
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
