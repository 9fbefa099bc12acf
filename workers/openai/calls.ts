/** `/v1/realtime/calls`, in the shape of OpenAI's Realtime API over WebRTC. */
import { bodyLimit } from 'hono/body-limit';
import { problemResponse } from '../../protocol/problem.ts';
import { answered } from '../calls.ts';
import type { EdgeContext } from '../edge.ts';
import { MAX_SDP_BYTES } from '../forward.ts';
import { callNotFound, endHeldCall } from '../held-call.ts';
import { mediaType } from '../media-type.ts';
import { offerTooLarge, readOffer } from '../offers.ts';
import { placeCall } from '../place-call.ts';
import { MAX_SESSION_BYTES, readCallForm } from './call-form.ts';

/** What ids of calls begin with in this API. */
const ID_PREFIX = 'rtc_';

/** Bytes that the boundaries and headers of a form may take. */
const FORM_OVERHEAD = 4 * 1024;

export const limitCallForm = bodyLimit({
  maxSize: MAX_SDP_BYTES + MAX_SESSION_BYTES + FORM_OVERHEAD,
  onError: offerTooLarge,
});

/** `POST /v1/realtime/calls`: the offer as application/sdp, or as the part `sdp` of a multipart form. */
export async function startRealtimeCall(context: EdgeContext): Promise<Response> {
  const offer = await offerOf(context.req.raw);
  if (offer instanceof Response) return offer;
  const call = await placeCall(context, offer);
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

async function offerOf(request: Request): Promise<string | Response> {
  switch (mediaType(request)) {
    case 'application/sdp':
      return readOffer(await request.arrayBuffer());
    case 'multipart/form-data':
      return readCallForm(request);
    default:
      return problemResponse(
        'unsupported-media-type',
        'Send the SDP offer as application/sdp, or as the part sdp of multipart/form-data.',
      );
  }
}
