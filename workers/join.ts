/** The way of a transceiver into its cluster's roster. */
import { problemResponse } from '../protocol/problem.ts';
import { footprintFor, type EdgeContext } from './edge.ts';

/**
 * `GET /v1/roster/:cluster`, a WebSocket upgrade. Only clusters of the footprint have a roster, so that
 * nobody makes objects by asking; the roster itself checks who joins.
 */
export async function joinRoster(context: EdgeContext): Promise<Response> {
  const name = context.req.param('cluster') ?? '';
  const { clusters } = await footprintFor(context);
  if (!clusters.some(({ cluster }) => String(cluster) === name)) {
    return problemResponse('not-found', `The footprint has no cluster ${name.slice(0, 32)}.`);
  }
  if (context.req.header('upgrade')?.toLowerCase() !== 'websocket') {
    const headers = { upgrade: 'websocket' };
    return problemResponse('upgrade-required', 'A roster is joined by WebSocket.', headers);
  }
  return context.env.ROSTER.getByName(name).fetch(context.req.raw);
}
