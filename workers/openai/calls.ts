/** `/v1/realtime/calls`, in the shape of OpenAI's Realtime API over WebRTC. */
import { bodyLimit } from 'hono/body-limit';
import { problemResponse } from '../../protocol/problem.ts';
import { fits, MAX_SESSION_BYTES, mergeSessions } from '../../protocol/session-config.ts';
import { answered } from '../calls.ts';
import type { EdgeContext } from '../edge.ts';
import { MAX_OFFER_BYTES } from '../../protocol/creation.ts';
import { callNotFound, endHeldCall } from '../held-call.ts';
import { mediaType } from '../media-type.ts';
import { offerTooLarge, readOffer } from '../offers.ts';
import { placeCall } from '../place-call.ts';
import { readCallForm, type CallForm } from './call-form.ts';

/** What ids of calls begin with in this API. */
const ID_PREFIX = 'rtc_';

/** Bytes that the boundaries and headers of a form may take. */
const FORM_OVERHEAD = 4 * 1024;

export const limitCallForm = bodyLimit({
  maxSize: MAX_OFFER_BYTES + MAX_SESSION_BYTES + FORM_OVERHEAD,
  onError: offerTooLarge,
});

/**
 * `POST /v1/realtime/calls`: the offer as application/sdp, or as the part `sdp` of a multipart form, whose part
 * `session` goes over what the client secret says of its sessions.
 */
export async function startRealtimeCall(context: EdgeContext): Promise<Response> {
  const asked = await readCall(context.req.raw);
  if (asked instanceof Response) return asked;
  const session =
    asked.session && mergeSessions(context.get('caller').session ?? {}, asked.session);
  if (session && !fits(session)) {
    const detail = `The session has more than ${MAX_SESSION_BYTES} bytes with that of the client secret.`;
    return problemResponse('malformed-request', detail);
  }
  const call = await placeCall(context, asked.offer, session);
  return call instanceof Response
    ? call
    : answered(call, `/v1/realtime/calls/${ID_PREFIX}${call.id}`);
}

/** `POST /v1/realtime/calls/:id/hangup` */
export async function hangUp(context: EdgeContext): Promise<Response> {
  const id = context.req.param('id') ?? '';
  return id.startsWith(ID_PREFIX)
    ? endHeldCall(context, id.slice(ID_PREFIX.length))
    : callNotFound();
}

async function readCall(request: Request): Promise<CallForm | Response> {
  switch (mediaType(request)) {
    case 'application/sdp': {
      const offer = readOffer(await request.arrayBuffer());
      return offer instanceof Response ? offer : { offer, session: undefined };
    }
    case 'multipart/form-data':
      return readCallForm(request);
    default:
      return problemResponse(
        'unsupported-media-type',
        'Send the SDP offer as application/sdp, or as the part sdp of multipart/form-data.',
      );
  }
}
