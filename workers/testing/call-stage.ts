/** The real Worker and one transceiver of cluster 2 that speaks the signed contract and makes no media. */
import { problem, type ProblemName } from '../../protocol/problem.ts';
import { parseSigningKey } from '../../protocol/signature.ts';
import { SIGNING_KEY, startLocalEdge, type LocalEdge } from './local-edge.ts';
import {
  startSignedOrigin,
  type Behavior,
  type OriginAnswer,
  type SignedOrigin,
} from './signed-origin.ts';
import { testTable } from './steering-table.ts';

export const CLUSTER = 2;
export const TRANSCEIVER = 21;

export const OFFER = [
  'v=0',
  'o=- 1 1 IN IP4 0.0.0.0',
  's=-',
  'm=audio 9 UDP/TLS/RTP/SAVPF 111',
  'a=mid:0',
  'a=ice-ufrag:qYcw',
  'a=ice-pwd:9KgWRQkJ4Pj0Zn3v6y6cM3QhL',
  'a=sendrecv',
  '',
].join('\r\n');
export const ANSWER = 'v=0\r\no=- 2 2 IN IP4 0.0.0.0\r\ns=as it is ✓\r\n';

export const FRAGMENT_TYPE = 'application/trickle-ice-sdpfrag';

/** What answers a restart. */
export const NEW_FRAGMENT = 'a=ice-lite\r\na=ice-ufrag:new\r\n';
export const FIRST_TAG = '"first"';
export const SECOND_TAG = '"second"';

export interface CallStage {
  readonly edge: LocalEdge;
  readonly origin: SignedOrigin;
  close(): Promise<void>;
}

export async function openCallStage(): Promise<CallStage> {
  const origin = await startSignedOrigin(parseSigningKey(SIGNING_KEY), CLUSTER);
  const table = testTable({ [CLUSTER]: { signaling: origin.url } });
  const edge = await startLocalEdge(JSON.stringify(table));
  await edge.join(CLUSTER, {
    transceiver: TRANSCEIVER,
    sessions: 0,
    capacity: 10,
    draining: false,
  });
  const close = async () => {
    await edge.close();
    await origin.close();
  };
  return { edge, origin, close };
}

/** Takes whatever a transceiver takes. */
export const willing: Behavior = ({ claims, contentType }) => {
  switch (claims.op) {
    case 'create': {
      const headers = { 'content-type': 'application/sdp', etag: FIRST_TAG };
      return { status: 201, headers, body: ANSWER };
    }
    case 'trickle':
      return { status: contentType === FRAGMENT_TYPE ? 204 : 415 };
    case 'restart': {
      const headers = { 'content-type': FRAGMENT_TYPE, etag: SECOND_TAG };
      return { status: 200, headers, body: NEW_FRAGMENT };
    }
    default:
      return { status: 200 };
  }
};

/** The answer of a transceiver that has something against the request. */
export function refusal(name: ProblemName): OriginAnswer {
  const body = problem(name, 'as the transceiver says');
  const headers = { 'content-type': 'application/problem+json' };
  return { status: body.status, headers, body: JSON.stringify(body) };
}
