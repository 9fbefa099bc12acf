/** One line of the log for every request but reads of health, and one data point for every call that was asked for. */
import type { MiddlewareHandler } from 'hono';
import { routePath } from 'hono/route';
import type { Caller } from './callers.ts';
import { placeFor, type EdgeContext, type EdgeEnv } from './edge.ts';
import { relayPath, type RelayPath, type StageTimings } from './response-headers.ts';

/** Times a request in the order of the data point's doubles, as `Server-Timing` names them. */
const STAGES = ['steer', 'roster', 'mint', 'forward', 'answer', 'admit'] as const;

/** Bindings that a deployment may leave out; without a data set there are only logs. */
type Observed = Partial<Pick<Env, 'CALL_POINTS' | 'VERSION'>>;

/** What a request was, as its line in the log has it. Durations are milliseconds. */
export interface RequestRecord {
  readonly message: 'request';
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
  readonly stages: Readonly<Record<string, number>>;
  /** Id of the Worker's version. */
  readonly version: string | undefined;
}

export const logRequests: MiddlewareHandler<EdgeEnv> = async (context, next) => {
  const start = performance.now();
  await next();
  const path: RelayPath | undefined = context.get('path');
  const record = recordOf(context, performance.now() - start, path);
  if (record.route === '/healthz') return;
  console.log(record);
  if (context.req.method === 'POST')
    observed(context).CALL_POINTS?.writeDataPoint(pointOf(record, path));
};

function recordOf(
  context: EdgeContext,
  duration: number,
  path: RelayPath | undefined,
): RequestRecord {
  const { status } = context.res;
  const { colo, country } = placeFor(context);
  // Unset on routes that no caller enters, and that place no call.
  const caller: Caller | undefined = context.get('caller');
  const timings: StageTimings | undefined = context.get('timings');
  return {
    message: 'request',
    requestId: context.get('requestId'),
    method: context.req.method,
    route: routePath(context, -1),
    status,
    duration: Math.round(duration),
    tenant: caller?.name,
    by: caller?.by,
    colo,
    country,
    path: path && relayPath(path),
    stages: timings?.durations ?? {},
    version: observed(context).VERSION?.id,
  };
}

/**
 * Index: the tenant. Blobs: route, status, colo, country, Relay-Path, version, request id, and out of the
 * Relay-Path the regions of cluster and ingress. Doubles: duration, then {@link STAGES}, -1 for one that was
 * not reached.
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
    ],
    doubles: [record.duration, ...STAGES.map((name) => record.stages[name] ?? -1)],
  };
}

function observed({ env }: EdgeContext): Observed {
  return env;
}
