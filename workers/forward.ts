/** Signed requests from the edge to the transceivers of a cluster. */
import { PROBLEM_CONTENT_TYPE, type ProblemName } from '../protocol/problem.ts';
import { sign, type Forward } from '../protocol/signature.ts';

/** Bytes of the largest session description taken, from a client or from an origin. */
export const MAX_SDP_BYTES = 64 * 1024;

/** Problems of an offer that no other transceiver would judge otherwise. */
const OFFER_PROBLEMS = ['malformed-offer', 'unacceptable-offer', 'offer-too-large'] as const;

export interface Origin {
  readonly cluster: number;
  /** Base URL of the cluster's signaling. */
  readonly signaling: string;
  readonly signingKey: Uint8Array;
  /** Milliseconds the origin may take. */
  readonly timeout: number;
}

export type CreateClaims = Extract<Forward, { op: 'create' }>;
export type EndClaims = Extract<Forward, { op: 'end' }>;

/** Why there is no good answer; `busy` when the origin itself said that it takes no session. */
export interface OriginFailure {
  readonly outcome: 'busy' | 'timeout' | 'unreachable' | 'bad-answer';
  readonly detail: string;
}

export type CreateOutcome =
  | {
      readonly outcome: 'created';
      readonly answer: string;
      readonly etag: string | undefined;
      /** Milliseconds the transceiver took for its answer. */
      readonly answerMs: number | undefined;
    }
  | { readonly outcome: 'refused'; readonly name: ProblemName; readonly detail: string }
  | OriginFailure;

export type EndOutcome =
  { readonly outcome: 'ended' } | { readonly outcome: 'unknown-call' } | OriginFailure;

/** Asks for a session. Never rejects. */
export async function createSession(
  origin: Origin,
  claims: CreateClaims,
  offer: string,
): Promise<CreateOutcome> {
  return attempt(async () => {
    const response = await send(origin, 'POST', '/v1/sessions', claims, offer);
    const type = mediaType(response);
    if (response.status === 201 && type === 'application/sdp') return readAnswer(response);
    if (response.status === 409 || response.status === 503) {
      return failure('busy', await statusOf(response));
    }
    const refusal = type === PROBLEM_CONTENT_TYPE ? await readRefusal(response) : undefined;
    return refusal ?? failure('bad-answer', await statusOf(response));
  });
}

/** Ends a session. Never rejects. */
export async function endSession(origin: Origin, claims: EndClaims): Promise<EndOutcome> {
  return attempt(async () => {
    const response = await send(origin, 'DELETE', `/v1/sessions/${claims.call}`, claims);
    const status = await statusOf(response);
    if (response.status === 200) return { outcome: 'ended' };
    if (response.status === 404) return { outcome: 'unknown-call' };
    return failure('bad-answer', status);
  });
}

async function send(
  { cluster, signaling, signingKey, timeout }: Origin,
  method: 'POST' | 'DELETE',
  path: string,
  claims: Forward,
  body?: string,
): Promise<Response> {
  const headers = new Headers({
    authorization: `Bearer ${await sign(signingKey, cluster, claims, body)}`,
    'x-request-id': claims.requestId,
  });
  if (body !== undefined) headers.set('content-type', 'application/sdp');
  return fetch(`${signaling}${path}`, {
    method,
    headers,
    body: body ?? null,
    redirect: 'manual',
    signal: AbortSignal.timeout(timeout),
  });
}

async function attempt<T>(request: () => Promise<T | OriginFailure>): Promise<T | OriginFailure> {
  try {
    return await request();
  } catch (error) {
    const timedOut = error instanceof Error && error.name === 'TimeoutError';
    return failure(timedOut ? 'timeout' : 'unreachable', String(error));
  }
}

async function readAnswer(response: Response): Promise<CreateOutcome> {
  const answer = await readText(response);
  if (!answer?.startsWith('v=0')) return failure('bad-answer', '201 without a readable answer');
  const duration = /(?:^|,)\s*answer;dur=(\d+(?:\.\d+)?)/.exec(
    response.headers.get('server-timing') ?? '',
  );
  return {
    outcome: 'created',
    answer,
    etag: response.headers.get('etag') ?? undefined,
    answerMs: duration ? Number(duration[1]) : undefined,
  };
}

async function readRefusal(response: Response): Promise<CreateOutcome | undefined> {
  const text = await readText(response);
  if (text === undefined) return undefined;
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof body !== 'object' || body === null || !('type' in body)) return undefined;
  const name = OFFER_PROBLEMS.find((known) => body.type === `urn:global-relay:problem:${known}`);
  const detail = 'detail' in body && typeof body.detail === 'string' ? body.detail : '';
  return name && { outcome: 'refused', name, detail };
}

/** Undefined when the body is not UTF-8 or too long. workerd's `text()` warns of application/sdp. */
async function readText(response: Response): Promise<string | undefined> {
  const bytes = await response.arrayBuffer();
  return bytes.byteLength > MAX_SDP_BYTES ? undefined : decodeText(bytes);
}

/** Undefined when the bytes are not UTF-8. */
export function decodeText(bytes: ArrayBuffer): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: false }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** The status in words; lets go of a body nobody will read. */
async function statusOf(response: Response): Promise<string> {
  if (!response.bodyUsed) await response.body?.cancel();
  return `the origin answered ${response.status}`;
}

function mediaType({ headers }: Response): string {
  return (headers.get('content-type') ?? '').split(';')[0]!.trim().toLowerCase();
}

function failure(outcome: OriginFailure['outcome'], detail: string): OriginFailure {
  return { outcome, detail };
}
