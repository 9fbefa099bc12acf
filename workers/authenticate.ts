/** What stands before the routes of calls: whose request it is, from which page, and whether it comes too often. */
import type { MiddlewareHandler } from 'hono';
import { problemResponse } from '../protocol/problem.ts';
import { findCaller, refuseOrigin, type Refusal } from './callers.ts';
import { backgroundOf, type EdgeContext, type EdgeEnv } from './edge.ts';
import { clientSecrets } from './keys.ts';
import { SESSION_LIFETIME } from './session-lifetime.ts';
import { readTenant } from './tenants.ts';

/** Seconds until a tenant that started too many calls may come again: the period of its rate limit. */
const RETRY_AFTER_RATE = '60';

/**
 * How a WebSocket of a browser, which sets no headers, shows a client secret: as one of the protocols it
 * offers, behind this. The one beside it is the one that is taken.
 */
export const BEARER_PROTOCOL = 'bearer.';

/** Requests that start something: a client secret that has expired is none. */
export const authenticate: MiddlewareHandler<EdgeEnv> = (context, next) => enter(context, next, 0);

/**
 * Requests for a call that goes on: a client whose secret has expired since may still restart its ICE
 * and hang up, for as long as a session lives.
 */
export const authenticateHeld: MiddlewareHandler<EdgeEnv> = (context, next) =>
  enter(context, next, SESSION_LIFETIME / 1000);

/** Only an API key mints client secrets, or a client could prolong its own for ever. */
export const requireApiKey: MiddlewareHandler<EdgeEnv> = async (context, next) => {
  const { by } = context.get('caller');
  if (by === 'api-key') return next();
  if (by === 'nothing') return problemResponse('unauthorized', 'This takes an API key.');
  return problemResponse('forbidden', 'This takes an API key, and no client secret.');
};

/** Turns away what a tenant starts beyond its calls per minute. */
export const limitStarts: MiddlewareHandler<EdgeEnv> = async (context, next) =>
  (await refuseStart(context)) ?? next();

/** Counts a start; undefined while it is within the tenant's calls per minute. */
export async function refuseStart(context: EdgeContext): Promise<Response | undefined> {
  const { name, tenant } = context.get('caller');
  const { success } = await rateLimit(context.env, tenant.callsPerMinute).limit({ key: name });
  if (success) return undefined;
  const detail = `The tenant ${name} may start ${tenant.callsPerMinute} calls per minute.`;
  return problemResponse('too-many-calls', detail, { 'retry-after': RETRY_AFTER_RATE });
}

async function enter(
  context: EdgeContext,
  next: () => Promise<void>,
  grace: number,
): Promise<Response | void> {
  const caller = await findCaller(authorizationOf(context), {
    secrets: () => clientSecrets(context.env),
    readTenant: (name) => readTenant(context.env.TENANTS, name, backgroundOf(context)),
    grace,
  });
  if ('problem' in caller) return refused(caller);
  const refusal = refuseOrigin(caller, context.req.header('origin'));
  if (refusal) return refused(refusal);
  context.set('caller', caller);
  return next();
}

function authorizationOf(context: EdgeContext): string | undefined {
  const header = context.req.header('authorization');
  if (header !== undefined) return header;
  const offered = context.req.header('sec-websocket-protocol')?.split(',') ?? [];
  const protocols = offered.map((text) => text.trim());
  const shown = protocols.find((it) => it.startsWith(BEARER_PROTOCOL));
  if (shown === undefined) return undefined;
  const taken = protocols.find((it) => !it.startsWith(BEARER_PROTOCOL));
  // What stands in `res` goes into the answer; what `header` sets would not.
  if (taken !== undefined) context.res.headers.set('sec-websocket-protocol', taken);
  return `Bearer ${shown.slice(BEARER_PROTOCOL.length)}`;
}

function rateLimit(env: Env, callsPerMinute: 60 | 600 | 6000): RateLimit {
  const limits = { 60: env.CALLS_60, 600: env.CALLS_600, 6000: env.CALLS_6000 };
  return limits[callsPerMinute];
}

function refused({ problem, detail }: Refusal): Response {
  return problemResponse(problem, detail);
}
