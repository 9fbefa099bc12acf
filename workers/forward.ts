/** Signed requests from the edge to the transceivers of a cluster. */
import { FRAGMENT_CONTENT_TYPE } from '../protocol/ice-fragment.ts';
import { writeCreation, type Creation } from '../protocol/creation.ts';
import type { SteeringCluster } from '../protocol/footprint.ts';
import { PROBLEM_CONTENT_TYPE, type ProblemName } from '../protocol/problem.ts';
import { sign, type Forward } from '../protocol/signature.ts';
import type { EdgeKeys } from './keys.ts';
import { mediaType } from './media-type.ts';

/** Bytes of the largest answer taken from an origin. */
const MAX_ANSWER_BYTES = 64 * 1024;

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false });

/** How workerd words that a connection broke. */
const CONNECTION_LOST = 'Network connection lost';

/** Problems of an offer that no other transceiver would judge otherwise. */
const OFFER_PROBLEMS = ['malformed-offer', 'unacceptable-offer', 'offer-too-large'] as const;

/** What a transceiver may have against a change of ICE. */
const PATCH_PROBLEMS = [
  'malformed-fragment',
  'call-not-found',
  'conflict',
  'precondition-failed',
  'fragment-too-large',
  'unsupported-media-type',
  'precondition-required',
] as const;

export interface Origin {
  readonly cluster: number;
  /** Base URL of the cluster's signaling. */
  readonly signaling: string;
  readonly signingKey: Uint8Array;
  /** Milliseconds the origin may take. */
  readonly timeout: number;
}

export type CreateClaims = Extract<Forward, { op: 'create' }>;
export type PatchClaims = Extract<Forward, { op: 'trickle' | 'restart' }>;
export type EndClaims = Extract<Forward, { op: 'end' }>;

/**
 * Why there is no good answer; `busy` when the origin itself said that it takes no session, `lost` when the
 * connection broke, which a kept-alive one does without any fault when the origin closes it in that moment.
 */
export interface OriginFailure {
  readonly outcome: 'busy' | 'timeout' | 'unreachable' | 'lost' | 'bad-answer';
  readonly detail: string;
}

/** A refusal that no other transceiver would give otherwise. */
export interface Refusal {
  readonly outcome: 'refused';
  readonly name: ProblemName;
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
  | Refusal
  | OriginFailure;

export type PatchOutcome =
  | { readonly outcome: 'trickled' }
  | { readonly outcome: 'restarted'; readonly fragment: string; readonly etag: string }
  | Refusal
  | OriginFailure;

export type EndOutcome =
  { readonly outcome: 'ended' } | { readonly outcome: 'unknown-call' } | OriginFailure;

/** @param timeout Milliseconds. */
export function originOf(
  { cluster, signaling }: SteeringCluster,
  { signingKey }: EdgeKeys,
  timeout: number,
): Origin {
  return { cluster, signaling, signingKey, timeout };
}

/** Asks for a session. Never rejects. */
export async function createSession(
  origin: Origin,
  claims: CreateClaims,
  creation: Creation,
): Promise<CreateOutcome> {
  return attempt(async () => {
    const { contentType, text } = writeCreation(creation);
    const headers = { 'content-type': contentType };
    const response = await send(origin, 'POST', '/v1/sessions', claims, headers, text);
    if (response.status === 201 && mediaType(response) === 'application/sdp') {
      return readAnswer(response);
    }
    if (response.status === 409 || response.status === 503) {
      return failure('busy', await statusOf(response));
    }
    return readRefusal(response, OFFER_PROBLEMS);
  });
}

/** Trickles candidates or restarts ICE (RFC 9725 §4.3). Never rejects. */
export async function patchSession(
  origin: Origin,
  claims: PatchClaims,
  ifMatch: string,
  fragment: string,
): Promise<PatchOutcome> {
  return attempt(async () => {
    const headers = { 'content-type': FRAGMENT_CONTENT_TYPE, 'if-match': ifMatch };
    const path = `/v1/sessions/${claims.call}`;
    const response = await send(origin, 'PATCH', path, claims, headers, fragment);
    if (response.status === 204 && claims.op === 'trickle') return { outcome: 'trickled' };
    if (response.status !== 200 || claims.op !== 'restart') {
      return readRefusal(response, PATCH_PROBLEMS);
    }
    const etag = response.headers.get('etag');
    const body =
      mediaType(response) === FRAGMENT_CONTENT_TYPE ? await readText(response) : undefined;
    if (!body || etag === null) return failure('bad-answer', '200 without a fragment and its ETag');
    return { outcome: 'restarted', fragment: body, etag };
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

function send(
  { cluster, signaling, signingKey, timeout }: Origin,
  method: 'POST' | 'PATCH' | 'DELETE',
  path: string,
  claims: Forward,
  headers: Readonly<Record<string, string>> = {},
  body?: string,
): Promise<Response> {
  const authorization = `Bearer ${sign(signingKey, cluster, claims, body)}`;
  return fetch(`${signaling}${path}`, {
    method,
    headers: { ...headers, authorization, 'x-request-id': claims.requestId },
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
    const lost = String(error).includes(CONNECTION_LOST);
    return failure(timedOut ? 'timeout' : lost ? 'lost' : 'unreachable', String(error));
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

/** The problem that the origin names, if it is one of those; else the answer makes no sense. */
async function readRefusal(
  response: Response,
  problems: readonly ProblemName[],
): Promise<Refusal | OriginFailure> {
  const isProblem = mediaType(response) === PROBLEM_CONTENT_TYPE;
  const refusal = isProblem ? refusalIn(await readText(response), problems) : undefined;
  return refusal ?? failure('bad-answer', await statusOf(response));
}

function refusalIn(
  text: string | undefined,
  problems: readonly ProblemName[],
): Refusal | undefined {
  let body: unknown;
  try {
    body = JSON.parse(text ?? '');
  } catch {
    return undefined;
  }
  if (typeof body !== 'object' || body === null || !('type' in body)) return undefined;
  const name = problems.find((known) => body.type === `urn:global-relay:problem:${known}`);
  const detail = 'detail' in body && typeof body.detail === 'string' ? body.detail : '';
  return name && { outcome: 'refused', name, detail };
}

/** Undefined when the body is not UTF-8 or too long, of which no more is read. */
async function readText(response: Response): Promise<string | undefined> {
  // A whole body is cheaper than its chunks, and safe where its length was told.
  if (toldLength(response) <= MAX_ANSWER_BYTES) return decodeText(await response.arrayBuffer());
  const { body } = response;
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body ?? []) {
    size += chunk.byteLength;
    if (size > MAX_ANSWER_BYTES) return undefined;
    chunks.push(chunk);
  }
  return decodeText(Buffer.concat(chunks));
}

/** Undefined when the bytes are not UTF-8. */
export function decodeText(bytes: ArrayBuffer | Uint8Array): string | undefined {
  try {
    return UTF8.decode(bytes);
  } catch {
    return undefined;
  }
}

/** Bytes that the body has at most; NaN when nobody told, or when it grows as it is decoded. */
function toldLength({ headers }: Response): number {
  const length = headers.get('content-length');
  return length === null || headers.has('content-encoding') ? NaN : Number(length);
}

/** The status in words; lets go of a body nobody will read. */
async function statusOf(response: Response): Promise<string> {
  if (!response.bodyUsed) await response.body?.cancel();
  return `the origin answered ${response.status}`;
}

function failure(outcome: OriginFailure['outcome'], detail: string): OriginFailure {
  return { outcome, detail };
}
