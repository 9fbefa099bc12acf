/** The edge's routes. */
import { Hono, type Context, type MiddlewareHandler } from 'hono';
import { methodNotAllowed } from 'hono/method-not-allowed';
import { requestId } from 'hono/request-id';
import { FRAGMENT_CONTENT_TYPE } from '../protocol/ice-fragment.ts';
import { problemResponse } from '../protocol/problem.ts';
import { admin } from './admin.ts';
import { answerHeaders } from './answer-headers.ts';
import { admitStart, authenticate, authenticateHeld, requireApiKey } from './authenticate.ts';
import {
  emptyCall,
  emptyCalls,
  endCall,
  limitFragment,
  limitOffer,
  patchCall,
  requireFragment,
  requireSdp,
  startCall,
} from './calls.ts';
import type { EdgeContext, EdgeEnv } from './edge.ts';
import { FootprintUnavailable } from './footprint-reader.ts';
import { startIngest } from './ingest.ts';
import { joinRoster } from './join.ts';
import { hangUp, limitCallForm, startRealtimeCall } from './openai/calls.ts';
import { createClientSecret, limitSecretRequest } from './openai/client-secrets.ts';
import { openAiErrors } from './openai/errors.ts';
import { signal } from './signal/signal.ts';
import { logRequests } from './request-log.ts';
import { where } from './where.ts';

/** A request id taken over from a client, so that its own logs and these name the same. */
const REQUEST_ID = /^[\w=-]{1,128}$/;

const RETRY_AFTER = '5';

export const app = new Hono<EdgeEnv>();

// Set on answers by what stands before the routes, once.
app.use(requestId({ headerName: '', generator: requestIdOf }));
app.use(logRequests);
app.use('/whip', onOptions({ 'accept-post': 'application/sdp' }));
app.use('/v1/calls', onOptions({ 'accept-post': 'application/sdp' }));
app.use('/v1/calls/:id', onOptions({ 'accept-patch': FRAGMENT_CONTENT_TYPE }));
app.use(answerHeaders);
app.use('/v1/realtime/*', openAiErrors);
app.use(
  methodNotAllowed({
    app,
    onMethodNotAllowed: (context, methods) => {
      const allow = methods.join(', ');
      const detail = `${context.req.method} does nothing here; this takes ${allow}.`;
      return problemResponse('method-not-allowed', detail, { allow });
    },
  }),
);

app.on('POST', ['/v1/calls', '/whip', '/v1/realtime/calls'], admitStart);
app.on('GET', '/v1/signal', authenticateHeld);
app.use('/v1/calls/:id', authenticateHeld);
app.use('/v1/realtime/calls/:id/hangup', authenticateHeld);

app.post('/v1/calls', requireSdp, limitOffer, startCall);
app.get('/v1/calls', emptyCalls);
app.patch('/v1/calls/:id', requireFragment, limitFragment, patchCall);
app.delete('/v1/calls/:id', endCall);
app.get('/v1/calls/:id', emptyCall);
app.post('/whip', requireSdp, limitOffer, startIngest);
app.get('/whip', emptyCalls);
app.post('/v1/realtime/calls', limitCallForm, startRealtimeCall);
app.post('/v1/realtime/calls/:id/hangup', hangUp);
app.post(
  '/v1/realtime/client_secrets',
  authenticate,
  requireApiKey,
  limitSecretRequest,
  createClientSecret,
);
app.get('/v1/signal', signal);
app.get('/v1/where', where);
app.get('/v1/roster/:cluster', joinRoster);
app.route('/admin', admin);
app.get('/healthz', (context) => context.json({ status: 'ok' }));

app.notFound((context) => {
  const detail = `There is nothing at ${new URL(context.req.url).pathname.slice(0, 128)}.`;
  return problemResponse('not-found', detail);
});
app.onError((error, context) => fault(error, context));

/** The client's own, if it is one. */
function requestIdOf(context: Context): string {
  const given = context.req.header('x-request-id');
  return given !== undefined && REQUEST_ID.test(given) ? given : crypto.randomUUID();
}

/** What an address takes is told with what CORS allows of it. */
function onOptions(headers: Readonly<Record<string, string>>): MiddlewareHandler<EdgeEnv> {
  return async (context, next) => {
    if (context.req.method === 'OPTIONS') {
      for (const [name, value] of Object.entries(headers)) context.header(name, value);
    }
    await next();
  };
}

/** What is wrong is told in the log; a client learns only what concerns it. */
function fault(error: Error, context: EdgeContext): Response {
  const id = context.get('requestId');
  console.error({ message: error.message, requestId: id, name: error.name, stack: error.stack });
  if (error instanceof FootprintUnavailable && !error.malformed) {
    const headers = { 'retry-after': RETRY_AFTER };
    return problemResponse('no-capacity', 'The edge knows of no region yet.', headers);
  }
  return problemResponse('internal', `It has been logged as request ${id}.`);
}
