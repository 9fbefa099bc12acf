/** The multipart form by which a call may be asked for: an offer and the session's configuration. */
import * as v from 'valibot';
import { problemResponse } from '../../protocol/problem.ts';
import { decodeText } from '../forward.ts';
import { readOffer } from '../offers.ts';

/** Bytes of the largest session configuration taken: instructions and tools are its bulk. */
export const MAX_SESSION_BYTES = 64 * 1024;

/** What a session is configured by; a transceiver’s back end judges the rest. */
export const SessionSchema = v.looseObject({
  type: v.optional(v.literal('realtime'), 'realtime'),
  model: v.optional(v.pipe(v.string(), v.maxLength(128))),
});

/**
 * The offer, or why there is none. Parts may be typed or not, files or fields: clients send all four.
 *
 * A configuration is checked and then left: a session has that of its back end, until the client sends
 * session.update on its data channel, as the clients of the API do.
 */
export async function readCallForm(request: Request): Promise<string | Response> {
  let form: FormData;
  try {
    form = await request.formData();
  } catch {
    return malformed('The body is no multipart form with the boundary of its content-type.');
  }
  const sdp = await bytesOf(form.getAll('sdp'));
  if (!sdp) return malformed('The form has one part named sdp, the offer.');
  const sessions = form.getAll('session');
  if (sessions.length > 0) {
    const session = await bytesOf(sessions);
    if (!session || !isSession(session)) {
      return malformed('The part named session is one JSON object of type realtime.');
    }
  }
  return readOffer(sdp);
}

async function bytesOf(parts: readonly (File | string)[]): Promise<Uint8Array | undefined> {
  const [part, ...others] = parts;
  if (part === undefined || others.length > 0) return undefined;
  return typeof part === 'string'
    ? new TextEncoder().encode(part)
    : new Uint8Array(await part.arrayBuffer());
}

function isSession(bytes: Uint8Array): boolean {
  try {
    const session: unknown = JSON.parse(decodeText(bytes) ?? '');
    // A schema of objects takes lists for objects.
    const isObject = !Array.isArray(session) && v.is(SessionSchema, session);
    return isObject && bytes.length <= MAX_SESSION_BYTES;
  } catch {
    return false;
  }
}

function malformed(detail: string): Response {
  return problemResponse('malformed-request', detail);
}
