/** The multipart form by which a call may be asked for: an offer and the session's configuration. */
import * as v from 'valibot';
import { problemResponse } from '../../protocol/problem.ts';
import { SessionSchema, type SessionConfig } from '../../protocol/session-config.ts';
import { decodeText } from '../forward.ts';
import { readOffer } from '../offers.ts';

/** What the form asks for. */
export interface CallForm {
  /** SDP. */
  readonly offer: string;
  readonly session: SessionConfig | undefined;
}

/** What the form asks for, or why it is none. Parts may be typed or not, files or fields: clients send all four. */
export async function readCallForm(request: Request): Promise<CallForm | Response> {
  let form: FormData;
  try {
    form = await request.formData();
  } catch {
    return malformed('The body is no multipart form with the boundary of its content-type.');
  }
  const sdp = await bytesOf(form.getAll('sdp'));
  if (!sdp) return malformed('The form has one part named sdp, the offer.');
  const session = await sessionOf(form.getAll('session'));
  if (session instanceof Response) return session;
  const offer = readOffer(sdp);
  return offer instanceof Response ? offer : { offer, session };
}

async function sessionOf(
  parts: readonly (File | string)[],
): Promise<SessionConfig | Response | undefined> {
  if (parts.length === 0) return undefined;
  const bytes = await bytesOf(parts);
  let value: unknown;
  try {
    value = JSON.parse((bytes && decodeText(bytes)) ?? '');
  } catch {
    return malformed('The part named session is one JSON object of type realtime.');
  }
  const result = v.safeParse(SessionSchema, value);
  if (result.success) return result.output;
  const [issue] = result.issues;
  return malformed(`${v.getDotPath(issue) ?? 'The session'}: ${issue.message}`);
}

async function bytesOf(parts: readonly (File | string)[]): Promise<Uint8Array | undefined> {
  const [part, ...others] = parts;
  if (part === undefined || others.length > 0) return undefined;
  return typeof part === 'string'
    ? new TextEncoder().encode(part)
    : new Uint8Array(await part.arrayBuffer());
}

function malformed(detail: string): Response {
  return problemResponse('malformed-request', detail);
}
