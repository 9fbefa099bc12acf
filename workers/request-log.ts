/**
 * One line of the log for every request but reads of health and for every offer by WebSocket, and one data point for
 * every call that was asked for.
 */
import type { MiddlewareHandler } from 'hono';
import { routePath } from 'hono/route';
import type { SteeringBasis } from './anchor.ts';
import type { Caller } from './callers.ts';
import { placeFor, type EdgeContext, type EdgeEnv } from './edge.ts';
import type { PlacedCall } from './place-call.ts';
import { relayPath, type PlacingRecord, type RelayPath } from './response-headers.ts';

/** Times a request in the order of the data point's doubles, as `Server-Timing` names them. */
const STAGES = ['steer', 'roster', 'mint', 'forward', 'answer', 'admit'] as const;

/** Routes at which a POST asks for a call. */
const CALL_ROUTES: ReadonlySet<string> = new Set(['/v1/calls', '/whip', '/v1/realtime/calls']);

/** Bindings that a deployment may leave out; without a data set there are only logs. */
type Observed = Partial<Pick<Env, 'CALL_POINTS' | 'VERSION'>>;

/** What a request was, or an offer by WebSocket, as its line in the log has it. Durations are milliseconds. */
export interface RequestRecord {
  readonly message: 'request' | 'offer';
  readonly requestId: string;
  readonly method: string;
  /** Pattern of the route, so that lines group and no id of a call is logged. */
  readonly route: string;
  readonly status: number;
  readonly duration: number;
  readonly tenant: string | undefined;
  /** How the caller showed who it is. */
  readonly by: string | undefined;
  readonly colo: string | undefined;
  readonly country: string | undefined;
  /** Relay-Path of a call that was placed. */
  readonly path: string | undefined;
  /** What decided where its session lives, as `/v1/where` tells. */
  readonly basis: SteeringBasis | undefined;
  readonly stages: Readonly<Record<string, number>>;
  /** Id of the Worker's version. */
  readonly version: string | undefined;
}

export const logRequests: MiddlewareHandler<EdgeEnv> = async (context, next) => {
  const start = performance.now();
  await next();
  const placing = placingOf(context);
  const { status } = context.res;
  const record = recordOf(context, { message: 'request', status, start, placing });
  if (record.route === '/healthz') return;
  console.log(record);
  if (record.method === 'POST' && CALL_ROUTES.has(record.route)) {
    writePoint(context, record, placing);
  }
};

/** Logs an offer by WebSocket: the request that opened the connection ended long before. */
export async function logOffer(
  context: EdgeContext,
  place: () => Promise<PlacedCall | Response>,
): Promise<PlacedCall | Response> {
  const start = performance.now();
  // That of the offer before is not this one's.
  context.set('placing', undefined);
  let status = 500;
  try {
    const call = await place();
    status = call instanceof Response ? call.status : 201;
    return call;
  } finally {
    const placing = placingOf(context);
    const record = recordOf(context, { message: 'offer', status, start, placing });
    console.log(record);
    writePoint(context, record, placing);
  }
}

/** Unset on routes that place no call. */
function placingOf(context: EdgeContext): PlacingRecord | undefined {
  return context.get('placing');
}

function writePoint(
  context: EdgeContext,
  record: RequestRecord,
  placing: PlacingRecord | undefined,
): void {
  observed(context).CALL_POINTS?.writeDataPoint(pointOf(record, placing?.path));
}

interface Outcome extends Pick<RequestRecord, 'message' | 'status'> {
  /** When it began, as `performance.now()` has it. */
  readonly start: number;
  readonly placing: PlacingRecord | undefined;
}

function recordOf(
  context: EdgeContext,
  { message, status, start, placing }: Outcome,
): RequestRecord {
  const { colo, country } = placeFor(context);
  // Unset on routes that no caller enters.
  const caller: Caller | undefined = context.get('caller');
  return {
    message,
    requestId: context.get('requestId'),
    method: context.req.method,
    route: routePath(context, -1),
    status,
    duration: Math.round(performance.now() - start),
    tenant: caller?.name,
    by: caller?.by,
    colo,
    country,
    path: placing?.path && relayPath(placing.path),
    basis: placing?.basis,
    stages: placing?.timings.durations ?? {},
    version: observed(context).VERSION?.id,
  };
}

/**
 * Index: the tenant. Blobs: route, status, colo, country, Relay-Path, version, request id, out of the Relay-Path
 * the regions of cluster and ingress, and the basis of steering. Doubles: duration, then {@link STAGES}, -1 for one
 * that was not reached.
 */
export function pointOf(
  record: RequestRecord,
  placed: RelayPath | undefined,
): AnalyticsEngineDataPoint {
  const { tenant = '', route, status, colo = '', country = '', path = '', version = '' } = record;
  return {
    indexes: [tenant],
    blobs: [
      route,
      String(status),
      colo,
      country,
      path,
      version,
      record.requestId,
      placed?.cluster ?? '',
      placed?.ingress ?? '',
      record.basis ?? '',
    ],
    doubles: [record.duration, ...STAGES.map((name) => record.stages[name] ?? -1)],
  };
}

function observed({ env }: EdgeContext): Observed {
  return env;
}
