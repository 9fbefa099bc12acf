/**
 * One line of the log for every request but reads of health and for every offer by WebSocket, and one data point for
 * every call that was asked for.
 */
import type { MiddlewareHandler } from 'hono';
import { routePath } from 'hono/route';
import type { Caller } from './callers.ts';
import { placeFor, type EdgeContext, type EdgeEnv } from './edge.ts';
import type { PlacedCall } from './place-call.ts';

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
  readonly stages: Readonly<Record<string, number>>;
  /** Id of the Worker's version. */
  readonly version: string | undefined;
}

export const logRequests: MiddlewareHandler<EdgeEnv> = async (context, next) => {
  const start = performance.now();
  await next();
  const record = recordOf(context, 'request', context.res, performance.now() - start);
  if (record.route === '/healthz') return;
  console.log(record);
  if (record.method === 'POST' && CALL_ROUTES.has(record.route)) writePoint(context, record);
};

/** Logs an offer by WebSocket: the request that opened the connection ended long before. */
export async function logOffer(
  context: EdgeContext,
  place: () => Promise<PlacedCall | Response>,
): Promise<PlacedCall | Response> {
  const start = performance.now();
  let answer: Answer = { status: 500, headers: new Headers() };
  try {
    const call = await place();
    answer =
      call instanceof Response ? call : { status: 201, headers: new Headers({ ...call.headers }) };
    return call;
  } finally {
    const record = recordOf(context, 'offer', answer, performance.now() - start);
    console.log(record);
    writePoint(context, record);
  }
}

/** What of a response is logged. */
type Answer = Pick<Response, 'status' | 'headers'>;

function writePoint(context: EdgeContext, record: RequestRecord): void {
  observed(context).CALL_POINTS?.writeDataPoint(pointOf(record));
}

function recordOf(
  context: EdgeContext,
  message: RequestRecord['message'],
  { status, headers }: Answer,
  duration: number,
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
    duration: Math.round(duration),
    tenant: caller?.name,
    by: caller?.by,
    colo,
    country,
    path: headers.get('relay-path') ?? undefined,
    stages: stagesOf(headers.get('server-timing') ?? ''),
    version: observed(context).VERSION?.id,
  };
}

/**
 * Index: the tenant. Blobs: route, status, colo, country, Relay-Path, version, request id, and out of the
 * Relay-Path the regions of cluster and ingress. Doubles: duration, then {@link STAGES}, -1 for one that was
 * not reached.
 */
export function pointOf(record: RequestRecord): AnalyticsEngineDataPoint {
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
      regionIn(path, 'cluster'),
      regionIn(path, 'ingress'),
    ],
    doubles: [record.duration, ...STAGES.map((name) => record.stages[name] ?? -1)],
  };
}

/** Empty when no call was placed. @param path Relay-Path, as this Worker writes it. */
function regionIn(path: string, name: string): string {
  return new RegExp(`\\b${name}="([^"]*)"`).exec(path)?.[1] ?? '';
}

/** @param serverTiming The header's value, as this Worker writes it. */
function stagesOf(serverTiming: string): Record<string, number> {
  const found = serverTiming.matchAll(/(\w+);dur=(\d+(?:\.\d+)?)/g);
  return Object.fromEntries([...found].map(([, name, ms]) => [name, Number(ms)]));
}

function observed({ env }: EdgeContext): Observed {
  return env;
}
