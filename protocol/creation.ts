/**
 * The body of the edge's request for a session: the offer as SDP, or with what the caller asks of the voice as JSON.
 * It is signed whole, and in the body since a session does not fit into headers.
 */
import * as v from 'valibot';
import { jsonObject } from './json-value.ts';
import { MAX_SESSION_BYTES, SessionSchema, type SessionConfig } from './session-config.ts';

/** Bytes of the largest offer taken. */
export const MAX_OFFER_BYTES = 64 * 1024;

/** Bytes of the largest body: each one of an offer may take six in JSON, as `\u0001` does. */
export const MAX_CREATION_BYTES = 6 * MAX_OFFER_BYTES + MAX_SESSION_BYTES + 1024;

const SDP = 'application/sdp';
const JSON_TYPE = 'application/json';

const CreationSchema = jsonObject(v.strictObject({ offer: v.string(), session: SessionSchema }));

export interface Creation {
  /** SDP. */
  readonly offer: string;
  readonly session?: SessionConfig | undefined;
}

export interface CreationBody {
  readonly contentType: string;
  readonly text: string;
}

export function writeCreation({ offer, session }: Creation): CreationBody {
  return session === undefined
    ? { contentType: SDP, text: offer }
    : { contentType: JSON_TYPE, text: JSON.stringify({ offer, session }) };
}

/**
 * Total.
 *
 * @param contentType The media type alone, in lower case.
 */
export function readCreation({
  contentType,
  text,
}: CreationBody): Creation | 'another type' | 'malformed' {
  if (contentType === SDP) return { offer: text };
  if (contentType !== JSON_TYPE) return 'another type';
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return 'malformed';
  }
  const result = v.safeParse(CreationSchema, body);
  return result.success ? result.output : 'malformed';
}
