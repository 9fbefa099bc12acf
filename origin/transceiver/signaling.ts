/** The HTTP interface of a cluster's transceivers, for the edge alone: every request is signed. */
import { Hono, type Context, type MiddlewareHandler } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import type { Logger } from 'pino';
import { FRAGMENT_CONTENT_TYPE, MAX_FRAGMENT_BYTES } from '../../protocol/ice-fragment.ts';
import { MAX_CREATION_BYTES, readCreation } from '../../protocol/creation.ts';
import { problemResponse, unauthorized } from '../../protocol/problem.ts';
import {
  ForwardSchema,
  SignatureError,
  type CheckedToken,
  type Forward,
  type SignatureVerifier,
} from '../../protocol/signature.ts';
import { OfferError } from './offer.ts';
import { forwardToOwner, type Owners } from './owner-forwarding.ts';
import { patchSession } from './signaling-patch.ts';
import { CapacityError, ConflictError, type Transceiver } from './transceiver.ts';

/** Seconds after which a full transceiver may be asked again. */
const RETRY_AFTER = 2;

export interface SignalingOptions {
  readonly verifier: SignatureVerifier;
  /** The transceivers of this process, by id. */
  readonly transceivers: ReadonlyMap<number, Transceiver>;
  /** Those of other processes; without, requests for their sessions are refused. */
  readonly owners?: Owners | undefined;
  readonly log: Logger;
}

const NO_OWNERS: Owners = { find: () => Promise.resolve('nowhere') };

interface SignalingEnv {
  Variables: { token: CheckedToken<Forward> };
}

/**
 * - `POST /v1/sessions`: a {@link readCreation | creation}, signed with `op: create`; 201 and the answer.
 * - `PATCH /v1/sessions/{call}`: see {@link patchSession}.
 * - `DELETE /v1/sessions/{call}`: signed with `op: end`; 200.
 * - `GET /healthz`: 200 as long as the process serves, whatever else is down.
 */
export function signalingApp({
  verifier,
  transceivers,
  owners = NO_OWNERS,
  log,
}: SignalingOptions): Hono<SignalingEnv> {
  const app = new Hono<SignalingEnv>();
  const limit = bodyLimit({
    maxSize: MAX_CREATION_BYTES,
    onError: () => {
      const detail = `A request for a session has at most ${MAX_CREATION_BYTES} bytes.`;
      return problemResponse('offer-too-large', detail);
    },
  });

  const fragmentLimit = bodyLimit({
    maxSize: MAX_FRAGMENT_BYTES,
    onError: () =>
      problemResponse('fragment-too-large', `A fragment has at most ${MAX_FRAGMENT_BYTES} bytes.`),
  });

  // Before the body is read, so that strangers cannot make it be.
  const authenticate: MiddlewareHandler<SignalingEnv> = async (c, next) => {
    c.set('token', await verifier.check(bearerOf(c), ForwardSchema));
    await next();
  };

  const toOwner: MiddlewareHandler<SignalingEnv> = forwardToOwner({
    isHere: (transceiver) => transceivers.has(transceiver),
    ownerOf: (c: Context<SignalingEnv>) => c.get('token').claims.transceiver,
    owners,
    log,
  });

  app.get('/healthz', (c) => c.json({ status: 'ok' }));

  app.post('/v1/sessions', authenticate, limit, toOwner, async (c) => {
    const started = performance.now();
    const text = await c.req.text();
    const claims = verifier.use(c.get('token'), text);
    if (claims.op !== 'create') throw new SignatureError('the token is not for creating a session');
    const creation = readCreation({ contentType: mediaTypeOf(c) ?? '', text });
    if (creation === 'another type') {
      return problemResponse('unsupported-media-type', 'Send application/sdp or application/json.');
    }
    if (creation === 'malformed') {
      return problemResponse('malformed-request', 'The JSON is no offer with a session.');
    }
    const transceiver = transceivers.get(claims.transceiver);
    if (!transceiver) {
      return problemResponse('conflict', `Transceiver ${claims.transceiver} is not here.`);
    }
    if (claims.expiresAt <= Date.now()) {
      return problemResponse('conflict', 'The session is over already; check the clocks.');
    }
    const { offer, session } = creation;
    const { answer, etag } = transceiver.create({ ...claims, session }, offer);
    const { requestId, call } = claims;
    log.info({ requestId, call, transceiver: transceiver.id }, 'session created');
    return c.body(answer, 201, {
      'content-type': 'application/sdp',
      etag,
      'server-timing': `answer;dur=${(performance.now() - started).toFixed(1)}`,
    });
  });

  app.patch('/v1/sessions/:call', authenticate, fragmentLimit, toOwner, async (c) => {
    if (mediaTypeOf(c) !== FRAGMENT_CONTENT_TYPE) {
      return problemResponse('unsupported-media-type', `Send ${FRAGMENT_CONTENT_TYPE}.`);
    }
    const fragment = await c.req.text();
    const claims = verifier.use(c.get('token'), fragment);
    const isPatch = claims.op === 'restart' || claims.op === 'trickle';
    if (!isPatch || claims.call !== c.req.param('call')) {
      throw new SignatureError('the token is not for changing this session');
    }
    const ifMatch = c.req.header('if-match');
    return patchSession(transceivers.get(claims.transceiver), { claims, ifMatch, fragment });
  });

  app.delete('/v1/sessions/:call', authenticate, limit, toOwner, (c) => {
    const claims = verifier.use(c.get('token'));
    if (claims.op !== 'end' || claims.call !== c.req.param('call')) {
      throw new SignatureError('the token is not for ending this session');
    }
    const ended = transceivers.get(claims.transceiver)?.end(claims.call, claims.tenant);
    return ended ? c.body(null, 200) : problemResponse('call-not-found', 'The call is not here.');
  });

  app.notFound(() => problemResponse('not-found', 'Sessions are under /v1/sessions.'));

  app.onError((error, c) => {
    if (error instanceof SignatureError) {
      return unauthorized(error.message, c.req.header('authorization'));
    }
    if (error instanceof OfferError) return problemResponse(error.problem, error.message);
    if (error instanceof ConflictError) return problemResponse('conflict', error.message);
    if (error instanceof CapacityError) {
      return problemResponse('no-capacity', error.message, { 'retry-after': `${RETRY_AFTER}` });
    }
    if (c.req.raw.signal.aborted) log.debug({ err: error }, 'the edge gave a request up');
    else log.error({ err: error }, 'a signaling request failed; this is a bug');
    return problemResponse('internal', 'The request failed here; the log of the origin says why.');
  });

  return app;
}

function mediaTypeOf(c: Context): string | undefined {
  return c.req.header('content-type')?.split(';')[0]?.trim().toLowerCase();
}

function bearerOf(c: Context): string {
  const token = /^Bearer ([!-~]+)$/i.exec(c.req.header('authorization') ?? '')?.[1];
  if (!token) throw new SignatureError('send Authorization: Bearer and a token');
  return token;
}
