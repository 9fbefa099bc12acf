/** The headers of every answer: its request's id, and what scripts of other origins may do and read. */
import type { MiddlewareHandler } from 'hono';
import { cors } from 'hono/cors';
import type { Caller } from './callers.ts';
import type { EdgeEnv } from './edge.ts';

/** Seconds a browser may remember what CORS allows. */
const CORS_MAX_AGE = 86_400;

/** What scripts of other origins may send; the last is that of OpenAI's own client. */
const ALLOWED_HEADERS = [
  'authorization',
  'content-type',
  'if-match',
  'x-request-id',
  'x-openai-agents-sdk',
];

/** What scripts of other origins may read of an answer. */
const EXPOSED_HEADERS = [
  'location',
  'etag',
  'link',
  'accept-post',
  'accept-patch',
  'retry-after',
  'server-timing',
  'relay-path',
  'x-request-id',
];

/** No page of another origin has to do with the admin API. */
const ADMIN = /^\/admin(?:\/|$)/;

const EXPOSED = EXPOSED_HEADERS.join(',');

const preflight = cors({
  origin: '*',
  allowMethods: ['GET', 'POST', 'PATCH', 'DELETE', 'OPTIONS'],
  allowHeaders: [...ALLOWED_HEADERS],
  exposeHeaders: [...EXPOSED_HEADERS],
  maxAge: CORS_MAX_AGE,
});

/**
 * Sets them on the answer itself, since Hono would make two more responses to carry them. So every route
 * answers with a response of its own, whose headers can be changed.
 */
export const answerHeaders: MiddlewareHandler<EdgeEnv> = async (context, next) => {
  const isForPages = !ADMIN.test(context.req.path);
  if (isForPages && context.req.method === 'OPTIONS') return preflight(context, next);
  await next();
  const { headers } = context.res;
  headers.set('x-request-id', context.get('requestId'));
  if (!isForPages) return undefined;
  headers.set('access-control-expose-headers', EXPOSED);
  // Unset on routes that no caller enters, and for callers who are refused.
  const caller: Caller | undefined = context.get('caller');
  const origin = caller?.tenant.origins && context.req.header('origin');
  headers.set('access-control-allow-origin', origin ?? '*');
  if (origin !== undefined) headers.append('vary', 'origin');
};
