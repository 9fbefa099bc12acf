/** The messages of `/v1/signal`: JSON objects, one a text. */
import * as v from 'valibot';
import { jsonObject } from '../../protocol/json-value.ts';
import type { Problem } from '../../protocol/problem.ts';

const Sdp = v.string();

/** What a client says. Members that are not known are left alone. */
export const ClientMessageSchema = v.variant('type', [
  /** Places a call; answered by `answer`. */
  v.object({ type: v.literal('offer'), sdp: Sdp }),
  /** A candidate of the client's, as RTCIceCandidateInit; not answered, for checks tell where the client is. */
  v.object({ type: v.literal('candidate'), candidate: v.nullable(jsonObject(v.looseObject({}))) }),
  /** Restarts ICE by an offer made for it; answered by `restarted`. */
  v.object({ type: v.literal('restart'), sdp: Sdp }),
  /** Takes a call up again that another connection placed; answered by `resumed`. */
  v.object({ type: v.literal('resume'), call: v.string() }),
  /** Ends the call; answered by `bye` and the close of the connection. */
  v.object({ type: v.literal('bye') }),
]);
export type ClientMessage = v.InferOutput<typeof ClientMessageSchema>;

/** What the edge says. `etag` is for those who go on by HTTP; `fragment` is SDP that carries ICE alone (RFC 8840 §9). */
export type EdgeMessage =
  | { readonly type: 'answer'; readonly call: string; readonly sdp: string; readonly etag?: string }
  | { readonly type: 'restarted'; readonly fragment: string; readonly etag?: string }
  | { readonly type: 'resumed'; readonly call: string }
  | { readonly type: 'bye' }
  | { readonly type: 'error'; readonly problem: Problem };

/** Undefined for all that is no message. */
export function readMessage(text: string): ClientMessage | undefined {
  let message: unknown;
  try {
    message = JSON.parse(text);
  } catch {
    return undefined;
  }
  const result = v.safeParse(ClientMessageSchema, message);
  return result.success ? result.output : undefined;
}

/** What of an offer restarts ICE, as a fragment; parts that the offer lacks are missing. */
export function fragmentOf(offer: string): string {
  const lines = [/^a=ice-ufrag:.*$/m, /^a=ice-pwd:.*$/m, /^m=.*$/m, /^a=mid:.*$/m];
  const found = lines.flatMap((line) => line.exec(offer)?.[0].trimEnd() ?? []);
  return found.map((line) => `${line}\r\n`).join('');
}
