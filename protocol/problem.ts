/** Errors as every tier's HTTP interface gives them: problem details (RFC 9457). */

export const PROBLEM_CONTENT_TYPE = 'application/problem+json';

const CHALLENGE = 'www-authenticate';

/** The stable names of what can go wrong, with the status each one carries. */
const PROBLEMS = {
  'malformed-request': [400, 'The request cannot be read'],
  'malformed-offer': [400, 'The SDP offer cannot be read'],
  'unacceptable-offer': [400, 'The SDP offer asks for what this service does not do'],
  'malformed-fragment': [400, 'The ICE fragment cannot be read'],
  unauthorized: [401, 'The request does not show who it is from'],
  forbidden: [403, 'Those who ask may not do that'],
  'not-found': [404, 'There is nothing at this address'],
  'call-not-found': [404, 'There is no such call'],
  'method-not-allowed': [405, 'This address does not take that method'],
  conflict: [409, 'The request does not fit the state of the session'],
  'precondition-failed': [412, 'The ICE of the session is another by now'],
  'offer-too-large': [413, 'The SDP offer is too large'],
  'fragment-too-large': [413, 'The ICE fragment is too large'],
  'unsupported-media-type': [415, 'The body is of a media type that this address does not take'],
  'upgrade-required': [426, 'This address takes WebSocket upgrades only'],
  'precondition-required': [428, 'The request must say which ICE it is about'],
  'too-many-calls': [429, 'The tenant starts calls too often, or has too many'],
  'too-many-changes': [429, 'The call is changed too often'],
  internal: [500, 'Something went wrong on our side'],
  'bad-gateway': [502, 'The cluster gave an answer that makes no sense'],
  'no-capacity': [503, 'No cluster can take a call now'],
  'gateway-timeout': [504, 'The cluster did not answer in time'],
} as const;

export type ProblemName = keyof typeof PROBLEMS;

export interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
}

/** @param detail What is wrong with this request, and where it helps, what to do about it. */
export function problem(name: ProblemName, detail: string): Problem {
  const [status, title] = PROBLEMS[name];
  return { type: `urn:global-relay:problem:${name}`, title, status, detail };
}

/** The problem as an HTTP response. */
export function problemResponse(
  name: ProblemName,
  detail: string,
  headers: Record<string, string> = {},
): Response {
  const body = problem(name, detail);
  const all = new Headers(headers);
  all.set('content-type', PROBLEM_CONTENT_TYPE);
  // RFC 9110 §15.5.2: a 401 says how to do better.
  if (body.status === 401 && !all.has(CHALLENGE)) all.set(CHALLENGE, 'Bearer');
  return new Response(JSON.stringify(body), { status: body.status, headers: all });
}

/**
 * A 401, which tells a token that is not good from none (RFC 6750 §3.1).
 *
 * @param authorization The request's header.
 */
export function unauthorized(detail: string, authorization: string | null = ''): Response {
  const isShown = /^Bearer +\S/i.test(authorization ?? '');
  const challenge = isShown ? 'Bearer error="invalid_token"' : 'Bearer';
  return problemResponse('unauthorized', detail, { [CHALLENGE]: challenge });
}
