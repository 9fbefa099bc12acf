/**
 * `PATCH /v1/sessions/{call}` (RFC 9725 §4.3): trickled candidates, signed with `op: trickle`, or an ICE
 * restart, signed with `op: restart`. Whatever fails leaves the session as it was.
 */
import { FRAGMENT_CONTENT_TYPE } from '../../protocol/ice-fragment.ts';
import { problemResponse } from '../../protocol/problem.ts';
import { SignatureError, type Forward } from '../../protocol/signature.ts';
import type { IceCredentials } from './ice-credentials.ts';
import { parseFragment } from './sdp-fragment.ts';
import { SdpError } from './sdp.ts';
import type { Session } from './session.ts';
import type { Transceiver } from './transceiver.ts';

/** If-Match of a restart. */
const ANY = '*';

export interface Patch {
  /** From the token, whose signature covers the fragment. */
  readonly claims: Extract<Forward, { op: 'trickle' | 'restart' }>;
  readonly ifMatch: string | undefined;
  readonly fragment: string;
}

export function patchSession(
  transceiver: Transceiver | undefined,
  { claims, ifMatch, fragment }: Patch,
): Response {
  if (ifMatch === undefined) {
    return problemResponse(
      'precondition-required',
      'Send If-Match: the ETag, or * to restart ICE.',
    );
  }
  if ((ifMatch.trim() === ANY) !== (claims.op === 'restart')) {
    throw new SignatureError('the token is not for what If-Match asks');
  }
  const session = transceiver?.find(claims.call, claims.tenant);
  if (!transceiver || !session) {
    return problemResponse('call-not-found', 'The call is not here.');
  }
  let client: IceCredentials;
  try {
    client = parseFragment(fragment);
  } catch (error) {
    if (!(error instanceof SdpError)) throw error;
    return problemResponse('malformed-fragment', `The fragment cannot be read: ${error.message}.`);
  }
  const isKnown = client.ufrag === session.ice.client.ufrag;
  if (claims.op === 'trickle') return trickled(session, ifMatch, isKnown);
  if (isKnown) {
    return problemResponse('conflict', 'A restart needs another a=ice-ufrag and a=ice-pwd.');
  }
  transceiver.requireFree(claims.ufrag);
  const body = session.restart(claims.ufrag, client, claims.relays);
  const headers = { 'content-type': FRAGMENT_CONTENT_TYPE, etag: session.etag };
  return new Response(body, { status: 200, headers });
}

/** There is nothing to do: we learn where the client is from its checks. */
function trickled(session: Session, ifMatch: string, isKnown: boolean): Response {
  const tags = ifMatch.split(',').map((it) => it.trim());
  if (!tags.includes(session.etag)) {
    return problemResponse('precondition-failed', 'ICE was restarted; that ETag is of before.');
  }
  return isKnown
    ? new Response(null, { status: 204 })
    : problemResponse('conflict', 'The fragment is not of this ICE; restart it with If-Match: *.');
}
