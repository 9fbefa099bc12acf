/** What stands before the routes of calls: whose request it is, from which page, and whether it comes too often. */
import type { MiddlewareHandler } from 'hono';
import { problemResponse, unauthorized } from '../protocol/problem.ts';
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
export const authenticate: MiddlewareHandler<EdgeEnv> = async (context, next) =>
  (await refuseCaller(context)) ?? next();

/**
 * Requests for a call that goes on: a client whose secret has expired since may still restart its ICE
 * and hang up, for as long as a session lives.
 */
export const authenticateHeld: MiddlewareHandler<EdgeEnv> = async (context, next) =>
  (await refuseCaller(context, SESSION_LIFETIME / 1000)) ?? next();

/** Only an API key mints client secrets, or a client could prolong its own for ever. */
export const requireApiKey: MiddlewareHandler<EdgeEnv> = async (context, next) => {
  const { by } = context.get('caller');
  if (by === 'api-key') return next();
  if (by === 'nothing') return unauthorized('This takes an API key.');
  return problemResponse('forbidden', 'This takes an API key, and no client secret.');
};

/** Requests that start a call, within the tenant's calls per minute. */
export const admitStart: MiddlewareHandler<EdgeEnv> = async (context, next) =>
  (await refuseCaller(context)) ?? (await refuseStart(context)) ?? next();

/** Counts a start; undefined while it is within the tenant's calls per minute. */
export async function refuseStart(context: EdgeContext): Promise<Response | undefined> {
  const { name, tenant } = context.get('caller');
  const { success } = await rateLimit(context.env, tenant.callsPerMinute).limit({ key: name });
  if (success) return undefined;
  const detail = `The tenant ${name} may start ${tenant.callsPerMinute} calls per minute.`;
  return problemResponse('too-many-calls', detail, { 'retry-after': RETRY_AFTER_RATE });
}

/**
 * Finds out whose request it is; undefined when they may go on.
 *
 * @param grace Seconds after its end for which a client secret still counts.
 */
export async function refuseCaller(context: EdgeContext, grace = 0): Promise<Response | undefined> {
  const authorization = authorizationOf(context);
  const caller = await findCaller(authorization, {
    secrets: () => clientSecrets(context.env),
    readTenant: (name) => readTenant(context.env.TENANTS, name, backgroundOf(context)),
    grace,
  });
  if ('problem' in caller) return refused(caller, authorization);
  const refusal = refuseOrigin(caller, context.req.header('origin'));
  if (refusal) return refused(refusal, authorization);
  context.set('caller', caller);
  return undefined;
}

/** The WebSocket protocol to take: the first that shows no secret. */
export function protocolTaken(context: EdgeContext): string | undefined {
  return offeredProtocols(context).find((it) => !it.startsWith(BEARER_PROTOCOL));
}

function authorizationOf(context: EdgeContext): string | undefined {
  const header = context.req.header('authorization');
  if (header !== undefined) return header;
  const shown = offeredProtocols(context).find((it) => it.startsWith(BEARER_PROTOCOL));
  return shown === undefined ? undefined : `Bearer ${shown.slice(BEARER_PROTOCOL.length)}`;
}

function offeredProtocols(context: EdgeContext): string[] {
  const offered = context.req.header('sec-websocket-protocol')?.split(',') ?? [];
  return offered.map((text) => text.trim());
}

function rateLimit(env: Env, callsPerMinute: 60 | 600 | 6000): RateLimit {
  return env[`CALLS_${callsPerMinute}`];
}

function refused({ problem, detail }: Refusal, authorization: string | undefined): Response {
  return problem === 'unauthorized'
    ? unauthorized(detail, authorization)
    : problemResponse(problem, detail);
}
