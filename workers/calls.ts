/** Calls: an SDP offer comes in, a session on a transceiver near the client comes out, and ends. */
import type { MiddlewareHandler } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { newCall } from '../protocol/call-id.ts';
import type { SteeringCluster } from '../protocol/footprint.ts';
import { problemResponse } from '../protocol/problem.ts';
import { candidates, type Candidate } from './candidates.ts';
import { footprintFor, rostersFor, type EdgeContext, type EdgeEnv } from './edge.ts';
import {
  createSession,
  decodeText,
  endSession,
  MAX_SDP_BYTES,
  type CreateClaims,
  type CreateOutcome,
  type OriginFailure,
} from './forward.ts';
import { edgeKeys, type EdgeKeys } from './keys.ts';
import { placeOf } from './place.ts';
import { relaysFor } from './relays.ts';
import { relayPath, StageTimings } from './response-headers.ts';
import { steer } from './steering.ts';
import { suspects } from './suspects.ts';

/** Milliseconds a session lives at most: its ufrag expires then. */
export const SESSION_LIFETIME = 2 * 60 * 60 * 1000;

/** Transceivers asked for one call at most. */
export const MAX_TRIES = 3;

/** Milliseconds for all tries together, and for a single one. */
const CALL_DEADLINE = 8_000;
const TRY_TIMEOUT = 3_000;

/** Milliseconds the end of a call may take. */
const END_TIMEOUT = 5_000;

/** Seconds after which a client that was turned away may come again. */
const RETRY_AFTER = '2';

/** The same when no region is active: somebody must change the footprint first. */
const RETRY_AFTER_FOOTPRINT = '60';

const AGAIN = 'Try again in a moment.';

/** Whose calls these are, until callers say who they are. */
const TENANT = 'public';

/** Refuses what is no SDP before its body is read. */
export const requireSdp: MiddlewareHandler<EdgeEnv> = async (context, next) => {
  const type = (context.req.header('content-type') ?? '').split(';')[0]!.trim().toLowerCase();
  if (type === 'application/sdp') return next();
  const got = type === '' ? 'no content-type' : type;
  return problemResponse(
    'unsupported-media-type',
    `Send the SDP offer as application/sdp; this came with ${got}.`,
  );
};

export const limitOffer = bodyLimit({
  maxSize: MAX_SDP_BYTES,
  onError: () => problemResponse('offer-too-large', `An offer has at most ${MAX_SDP_BYTES} bytes.`),
});

/** `POST /v1/calls` */
export async function startCall(context: EdgeContext): Promise<Response> {
  const offer = decodeText(await context.req.arrayBuffer());
  if (!offer || !/^v=0[\r\n]/.test(offer)) return noDescription(offer);
  const keys = edgeKeys(context.env);
  const timings = new StageTimings();
  const { clusters, ingress, reason } = await timings.measure('steer', async () =>
    steer(await footprintFor(context), placeOf(context.req.raw)),
  );
  if (!ingress || clusters.length === 0) {
    return noCapacity(`No call can start: ${reason}.`, RETRY_AFTER_FOOTPRINT);
  }

  const readRoster = rostersFor(context);
  const choices = candidates(
    clusters,
    (cluster) => timings.measure('roster', () => readRoster(cluster)),
    suspects,
  );
  const deadline = Date.now() + CALL_DEADLINE;
  let tries = 0;
  let failure: OriginFailure | undefined;
  for await (const candidate of choices) {
    const timeout = Math.min(TRY_TIMEOUT, deadline - Date.now());
    if (timeout <= 0 || tries++ === MAX_TRIES) break;
    const claims = await timings.measure('mint', () => mint(context, keys, candidate, ingress));
    const outcome = await timings.measure('forward', () =>
      createSession({ ...originOf(candidate.cluster, keys), timeout }, claims, offer),
    );
    suspects.note(candidate.cluster.cluster, outcome.outcome);
    if (outcome.outcome === 'created') {
      return created(context, keys, claims, candidate, ingress, outcome, timings);
    }
    if (outcome.outcome === 'refused') return problemResponse(outcome.name, outcome.detail);
    failure = outcome;
    logFailure(context, candidate.cluster, candidate.transceiver, outcome);
  }
  return failure
    ? failed(failure)
    : noCapacity(`No transceiver answers or has room now. ${AGAIN}`, RETRY_AFTER);
}

/** `DELETE /v1/calls/:id` */
export async function endCall(context: EdgeContext): Promise<Response> {
  const keys = edgeKeys(context.env);
  const ref = keys.callIds.open(context.req.param('id') ?? '');
  const { clusters } = await footprintFor(context);
  const cluster = ref && clusters.find(({ cluster: id }) => id === ref.cluster);
  if (!cluster) return callNotFound();
  const { transceiver, call, tenant } = ref;
  const requestId = context.get('requestId');
  const claims = { op: 'end', requestId, transceiver, call, tenant } as const;
  const origin = { ...originOf(cluster, keys), timeout: END_TIMEOUT };
  const outcome = await endSession(origin, claims);
  if (outcome.outcome === 'ended') return new Response(null, { status: 200 });
  if (outcome.outcome === 'unknown-call') return callNotFound();
  logFailure(context, cluster, transceiver, outcome);
  return failed(outcome);
}

/** `GET /v1/calls`: WHIP clients may ask, and get nothing (RFC 9725 §4.1). */
export function emptyCalls(): Response {
  return new Response(null, { status: 204 });
}

/** `GET /v1/calls/:id`: nothing as well, for an id that was given out; whether the call goes on is not asked. */
export function emptyCall(context: EdgeContext): Response {
  const ref = edgeKeys(context.env).callIds.open(context.req.param('id') ?? '');
  return ref ? emptyCalls() : callNotFound();
}

/** Each try has a ufrag and a name of its own: a try that was given up may yet have made a session. */
function mint(
  context: EdgeContext,
  keys: EdgeKeys,
  { cluster, transceiver }: Candidate,
  ingress: SteeringCluster,
): CreateClaims {
  const expiresAt = Date.now() + SESSION_LIFETIME;
  return {
    op: 'create',
    requestId: context.get('requestId'),
    transceiver,
    call: newCall(),
    tenant: TENANT,
    ufrag: keys.ufrags.seal({ cluster: cluster.cluster, transceiver, expiresAt }),
    expiresAt,
    relays: relaysFor(ingress, cluster),
  };
}

function created(
  context: EdgeContext,
  keys: EdgeKeys,
  { call, tenant }: CreateClaims,
  { cluster, transceiver }: Candidate,
  ingress: SteeringCluster,
  { answer, etag, answerMs }: Extract<CreateOutcome, { outcome: 'created' }>,
  timings: StageTimings,
): Response {
  const id = keys.callIds.seal({ cluster: cluster.cluster, transceiver, call, tenant });
  if (answerMs !== undefined) timings.add('answer', answerMs);
  const { colo } = placeOf(context.req.raw);
  return new Response(answer, {
    status: 201,
    headers: {
      'content-type': 'application/sdp',
      location: `/v1/calls/${id}`,
      ...(etag === undefined ? {} : { etag }),
      'server-timing': timings.toString(),
      'relay-path': relayPath({
        colo,
        cluster: cluster.region,
        ingress: ingress.region,
        transceiver,
      }),
    },
  });
}

function originOf({ cluster, signaling }: SteeringCluster, { signingKey }: EdgeKeys) {
  return { cluster, signaling, signingKey };
}

function failed({ outcome }: OriginFailure): Response {
  if (outcome === 'busy') {
    return noCapacity(`Every transceiver that was asked is full. ${AGAIN}`, RETRY_AFTER);
  }
  if (outcome === 'timeout') {
    return problemResponse('gateway-timeout', 'The cluster is there but too slow; try again.');
  }
  return problemResponse('bad-gateway', 'The cluster cannot be reached as it should; try again.');
}

/** @param retryAfter Seconds. */
function noCapacity(detail: string, retryAfter: string): Response {
  return problemResponse('no-capacity', detail, { 'retry-after': retryAfter });
}

function noDescription(offer: string | undefined): Response {
  const isOneLine = offer?.startsWith('v=0') && !/[\r\n]/.test(offer);
  const detail = isOneLine
    ? 'The offer has lost its line breaks. With curl, send a file by --data-binary @FILE; -d takes them out.'
    : 'A session description begins with the line v=0.';
  return problemResponse('malformed-offer', detail);
}

function callNotFound(): Response {
  return problemResponse('call-not-found', 'The call has ended, or never was.');
}

function logFailure(
  context: EdgeContext,
  { region, signaling }: SteeringCluster,
  transceiver: number,
  { outcome, detail }: OriginFailure,
): void {
  const requestId = context.get('requestId');
  console.warn({ message: `origin ${outcome}`, requestId, region, signaling, transceiver, detail });
}
