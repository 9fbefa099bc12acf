/** The way of a transceiver into its cluster's roster. */
import { problemResponse, unauthorized } from '../protocol/problem.ts';
import { RosterJoinSchema, SignatureError, SignatureVerifier } from '../protocol/signature.ts';
import { footprintFor, type EdgeContext } from './edge.ts';
import { edgeKeys } from './keys.ts';
import { rosterOf } from './roster-reader.ts';

/**
 * `GET /v1/roster/:cluster`, a WebSocket upgrade. Only clusters of the footprint have a roster, so that
 * nobody makes objects by asking. The signature is checked here and again by the roster: here, so that
 * strangers never wake it; there, since only it knows which tokens were used.
 */
export async function joinRoster(context: EdgeContext): Promise<Response> {
  const request = context.req.raw;
  const name = context.req.param('cluster') ?? '';
  const { clusters } = await footprintFor(context);
  const known = clusters.find(({ cluster }) => String(cluster) === name);
  if (!known) {
    return problemResponse('not-found', `The footprint has no cluster ${name.slice(0, 32)}.`);
  }
  if (request.headers.get('upgrade')?.toLowerCase() !== 'websocket') {
    const headers = { upgrade: 'websocket' };
    return problemResponse('upgrade-required', 'A roster is joined by WebSocket.', headers);
  }
  const { signingKeys } = edgeKeys(context.env);
  const joiner = await verifyJoin(request, new SignatureVerifier(signingKeys, known.cluster));
  if (joiner instanceof Response) return joiner;
  const answer = await rosterOf(context.env.ROSTER, known).fetch(request);
  // Headers of what another Worker answered cannot be changed; those of a copy can.
  return new Response(answer.body, answer);
}

/**
 * The id of the transceiver that asks to join, or why it may not.
 *
 * @param spend Uses a token up by its id; false when it was used before.
 */
export async function verifyJoin(
  request: Request,
  verifier: SignatureVerifier,
  spend: (jti: string) => boolean = () => true,
): Promise<number | Response> {
  const authorization = request.headers.get('authorization');
  const token = /^Bearer ([\w.-]+)$/.exec(authorization ?? '')?.[1];
  if (!token) return unauthorized('Join with a signed bearer token.', authorization);
  try {
    const checked = await verifier.check(token, RosterJoinSchema);
    const { transceiver } = verifier.use(checked);
    if (!spend(checked.jti)) throw new SignatureError('the token was used before');
    return transceiver;
  } catch (error) {
    if (!(error instanceof SignatureError)) throw error;
    return unauthorized(`The token is not good: ${error.message}.`, authorization);
  }
}
