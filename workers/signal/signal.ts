/**
 * `GET /v1/signal`, a WebSocket upgrade: the same calls as `/v1/calls`, by messages. A connection has no state but
 * the id of its call, so a client that lost it resumes at any edge.
 */
import { problemResponse } from '../../protocol/problem.ts';
import { protocolTaken } from '../authenticate.ts';
import type { EdgeContext } from '../edge.ts';
import { Conversation } from './conversation.ts';

export function signal(context: EdgeContext): Response {
  if (context.req.header('upgrade')?.toLowerCase() !== 'websocket') {
    const headers = { upgrade: 'websocket' };
    return problemResponse('upgrade-required', 'Signaling is by WebSocket.', headers);
  }
  const { 0: client, 1: server } = new WebSocketPair();
  server.accept();
  new Conversation(context, server).start();
  const taken = protocolTaken(context);
  const headers = taken === undefined ? {} : { 'sec-websocket-protocol': taken };
  return new Response(null, { status: 101, headers, webSocket: client });
}
