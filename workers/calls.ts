/** `/v1/calls`, in the shape of WHIP (RFC 9725), but for calls both ways. */
import type { MiddlewareHandler } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { FRAGMENT_CONTENT_TYPE, MAX_FRAGMENT_BYTES } from '../protocol/ice-fragment.ts';
import { problemResponse } from '../protocol/problem.ts';
import type { EdgeContext, EdgeEnv } from './edge.ts';
import { MAX_OFFER_BYTES } from '../protocol/creation.ts';
import { decodeText } from './forward.ts';
import { callNotFound, endHeldCall, fragmentTooLarge, patchHeldCall, refOf } from './held-call.ts';
import { mediaType } from './media-type.ts';
import { offerTooLarge, readOffer } from './offers.ts';
import { placeCall, type PlacedCall } from './place-call.ts';

/** Refuses what is no SDP before its body is read. */
export const requireSdp = requireType('application/sdp', 'the SDP offer');

export const limitOffer = bodyLimit({ maxSize: MAX_OFFER_BYTES, onError: offerTooLarge });

export const requireFragment = requireType(FRAGMENT_CONTENT_TYPE, 'the ICE fragment');

export const limitFragment = bodyLimit({
  maxSize: MAX_FRAGMENT_BYTES,
  onError: fragmentTooLarge,
});

/** `POST /v1/calls` */
export async function startCall(context: EdgeContext): Promise<Response> {
  const offer = readOffer(await context.req.arrayBuffer());
  if (offer instanceof Response) return offer;
  const call = await placeCall(context, offer);
  return call instanceof Response ? call : answered(call, `/v1/calls/${call.id}`);
}

/** @param location Path of the call's URL. */
export function answered({ answer, etag, headers }: PlacedCall, location: string): Response {
  const tag = etag === undefined ? {} : { etag };
  return new Response(answer, {
    status: 201,
    headers: { 'content-type': 'application/sdp', location, ...tag, ...headers },
  });
}

/** `PATCH /v1/calls/:id` (RFC 9725 §4.3): candidates, or an ICE restart. */
export async function patchCall(context: EdgeContext): Promise<Response> {
  const ifMatch = context.req.header('if-match');
  if (ifMatch === undefined) {
    const detail =
      'Send If-Match: the ETag of the ICE that the candidates are of, or * to restart ICE.';
    return problemResponse('precondition-required', detail);
  }
  const fragment = decodeText(await context.req.arrayBuffer());
  if (fragment === undefined) {
    return problemResponse('malformed-fragment', 'The fragment is not UTF-8.');
  }
  return patchHeldCall(context, idOf(context), ifMatch, fragment);
}

/** `DELETE /v1/calls/:id` */
export function endCall(context: EdgeContext): Promise<Response> {
  return endHeldCall(context, idOf(context));
}

/** `GET /v1/calls`: WHIP clients may ask, and get nothing (RFC 9725 §4.1). */
export function emptyCalls(): Response {
  return new Response(null, { status: 204 });
}

/** `GET /v1/calls/:id`: nothing as well, for an id that was given out; whether the call goes on is not asked. */
export function emptyCall(context: EdgeContext): Response {
  return refOf(context, idOf(context)) ? emptyCalls() : callNotFound();
}

export function idOf(context: EdgeContext): string {
  return context.req.param('id') ?? '';
}

function requireType(wanted: string, what: string): MiddlewareHandler<EdgeEnv> {
  return async (context, next) => {
    const type = mediaType(context.req.raw);
    if (type === wanted) return next();
    const got = type === '' ? 'no content-type' : type;
    const detail = `Send ${what} as ${wanted}; this came with ${got}.`;
    return problemResponse('unsupported-media-type', detail);
  };
}
