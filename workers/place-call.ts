/** Places a call: finds a transceiver near the client that takes its offer. Every API starts calls by this. */
import { newCall } from '../protocol/call-id.ts';
import type { Creation } from '../protocol/creation.ts';
import type { SteeringCluster } from '../protocol/footprint.ts';
import { problemResponse } from '../protocol/problem.ts';
import type { SessionConfig } from '../protocol/session-config.ts';
import { Admission, tooManyCalls } from './admission.ts';
import { candidates, type Candidate } from './candidates.ts';
import {
  backgroundOf,
  footprintFor,
  rostersFor,
  tenantOf,
  type EdgeContext,
  placeFor,
} from './edge.ts';
import {
  createSession,
  originOf,
  type CreateClaims,
  type CreateOutcome,
  type OriginFailure,
} from './forward.ts';
import { edgeKeys, type EdgeKeys } from './keys.ts';
import { mayLeaveOrphan, removeOrphan } from './orphans.ts';
import { AGAIN, failed, logFailure, noCapacity, RETRY_AFTER } from './origin-failure.ts';
import { relaysFor } from './relays.ts';
import { relayPath, StageTimings, type PlacingRecord } from './response-headers.ts';
import { SESSION_LIFETIME } from './session-lifetime.ts';
import { steer, type Steering } from './steering.ts';
import { suspects } from './suspects.ts';
import { Tries } from './tries.ts';

/** Seconds until a client may come again when no region is active: somebody must change the footprint first. */
const RETRY_AFTER_FOOTPRINT = '60';

/** A call that a transceiver has taken. */
export interface PlacedCall {
  /** What the client holds of it; see {@link CallIdCodec}. */
  readonly id: string;
  /** SDP. */
  readonly answer: string;
  /** The entity-tag of its ICE. */
  readonly etag: string | undefined;
  /** Server-Timing and Relay-Path. */
  readonly headers: Readonly<Record<'server-timing' | 'relay-path', string>>;
}

/**
 * The call, or the problem that a client is told.
 *
 * @param session What the caller asks of the voice; what its client secret says unless given.
 */
export async function placeCall(
  context: EdgeContext,
  offer: string,
  session: SessionConfig | undefined = context.get('caller').session,
): Promise<PlacedCall | Response> {
  const keys = edgeKeys(context.env);
  const timings = new StageTimings();
  const record: PlacingRecord = { timings };
  context.set('placing', record);
  const steering = await timings.measure('steer', async () =>
    steer(await footprintFor(context), placeFor(context)),
  );
  const { basis, clusters, ingress, reason } = steering;
  record.basis = basis;
  const [home] = clusters;
  if (!ingress || !home) {
    return noCapacity(`No call can start: ${reason}.`, RETRY_AFTER_FOOTPRINT);
  }
  const call = newCall();
  // Rosters are read meanwhile.
  const admission = Admission.ask(context, { call, cluster: home.cluster });
  const creation = { offer, session };
  const placing = tryAll({
    context,
    keys,
    record,
    steering,
    ingress,
    creation,
    call,
    admission,
  });
  if (!admission) return placing;
  const settled = settle(placing, admission);
  // A client that goes meanwhile takes its request down, but leaves no place taken. One that nobody counts
  // needs no such care: a session that nobody comes to ends by itself.
  backgroundOf(context)(settled.catch(() => undefined));
  return settled;
}

async function settle(
  placing: Promise<PlacedCall | Response>,
  admission: Admission,
): Promise<PlacedCall | Response> {
  try {
    const outcome = await placing;
    if (outcome instanceof Response) await admission.giveBack();
    return outcome;
  } catch (error) {
    await admission.giveBack();
    throw error;
  }
}

interface Placing {
  readonly context: EdgeContext;
  readonly keys: EdgeKeys;
  readonly record: PlacingRecord;
  readonly steering: Steering;
  readonly ingress: SteeringCluster;
  readonly creation: Creation;
  /** Name of the call in its first try. */
  readonly call: string;
  readonly admission: Admission | undefined;
}

async function tryAll(placing: Placing): Promise<PlacedCall | Response> {
  const { context, keys, record, steering, ingress, creation, admission } = placing;
  const { timings } = record;
  const readRoster = rostersFor(context);
  const tries = new Tries();
  const choices = candidates(
    steering,
    (cluster) => timings.measure('roster', () => readRoster(cluster)),
    suspects,
    () => tries.isLate,
  );
  let failure: OriginFailure | undefined;
  let name: string | undefined = placing.call;
  for await (const candidate of choices) {
    const { cluster, transceiver } = candidate;
    if (admission && !(await timings.measure('admit', () => admission.granted))) {
      return tooManyCalls(context);
    }
    const ask = async (): Promise<Asked | undefined> => {
      const timeout = tries.next();
      if (timeout === undefined) return undefined;
      // Each try has a ufrag and a name of its own: a try that was given up may yet have made a session.
      const call = name ?? newCall();
      name = undefined;
      const claims = await timings.measure('mint', () =>
        mint(context, keys, candidate, ingress, call),
      );
      const origin = originOf(cluster, keys, timeout);
      const moved = admission?.move({ call, cluster: cluster.cluster });
      const outcome = await timings.measure('forward', () =>
        createSession(origin, claims, creation),
      );
      await moved;
      if (mayLeaveOrphan(outcome)) backgroundOf(context)(removeOrphan(origin, claims));
      return { claims, outcome };
    };
    const first = await ask();
    // A lost connection says nothing of the transceiver yet.
    const asked = first?.outcome.outcome === 'lost' ? ((await ask()) ?? first) : first;
    if (!asked) break;
    const { claims, outcome } = asked;
    suspects.note(cluster.cluster, outcome.outcome);
    if (outcome.outcome === 'created') {
      return placed(context, keys, claims, candidate, ingress, outcome, record);
    }
    if (outcome.outcome === 'refused') return problemResponse(outcome.name, outcome.detail);
    failure = outcome;
    logFailure(context, cluster, transceiver, outcome);
  }
  return failure
    ? failed(failure)
    : noCapacity(`No transceiver answers or has room now. ${AGAIN}`, RETRY_AFTER);
}

/** What came of one try. */
interface Asked {
  readonly claims: CreateClaims;
  readonly outcome: CreateOutcome;
}

function mint(
  context: EdgeContext,
  keys: EdgeKeys,
  { cluster, transceiver }: Candidate,
  ingress: SteeringCluster,
  call: string,
): CreateClaims {
  const expiresAt = Date.now() + SESSION_LIFETIME;
  return {
    op: 'create',
    requestId: context.get('requestId'),
    transceiver,
    call,
    tenant: tenantOf(context),
    ufrag: keys.ufrags.seal({ cluster: cluster.cluster, transceiver, expiresAt }),
    expiresAt,
    relays: relaysFor(ingress, cluster),
  };
}

async function placed(
  context: EdgeContext,
  keys: EdgeKeys,
  { call, tenant }: CreateClaims,
  { cluster, transceiver }: Candidate,
  ingress: SteeringCluster,
  { answer, etag, answerMs }: Extract<CreateOutcome, { outcome: 'created' }>,
  record: PlacingRecord,
): Promise<PlacedCall> {
  const { timings } = record;
  if (answerMs !== undefined) timings.add('answer', answerMs);
  const { colo } = placeFor(context);
  const path = { colo, cluster: cluster.region, ingress: ingress.region, transceiver };
  record.path = path;
  return {
    id: await keys.callIds.seal({ cluster: cluster.cluster, transceiver, call, tenant }),
    answer,
    etag,
    headers: { 'server-timing': timings.toString(), 'relay-path': relayPath(path) },
  };
}
