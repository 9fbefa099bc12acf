/** A small HTTP server that speaks the signed contract of a cluster's signaling, for the edge's tests. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import {
  ForwardSchema,
  SignatureVerifier,
  type Forward,
  type SigningKeys,
} from '../../protocol/signature.ts';

/** One request as it came, its signature verified. */
export interface SignedRequest {
  readonly method: string;
  readonly url: string;
  readonly requestId: string | undefined;
  readonly contentType: string | undefined;
  readonly body: string;
  readonly claims: Forward;
}

/**
 * What to answer; `never` leaves the request open, `cut` cuts its connection, `endless` answers 201 with SDP that
 * never ends.
 */
export type Behavior = (request: SignedRequest) => OriginAnswer | 'never' | 'cut' | 'endless';

export interface OriginAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface SignedOrigin {
  /** Base URL. */
  readonly url: string;
  /** Every request so far; those with a bad signature are answered with 401 and not among them. */
  readonly requests: readonly SignedRequest[];
  /** Forgets the requests and behaves otherwise from now on. */
  behave(behavior: Behavior): void;
  close(): Promise<void>;
}

export async function startSignedOrigin(
  keys: SigningKeys | Uint8Array,
  cluster: number,
): Promise<SignedOrigin> {
  const verifier = new SignatureVerifier(keys, cluster);
  const requests: SignedRequest[] = [];
  let behavior = unset;
  const server = createServer((message, response) => {
    void serve(message, response);
  });
  async function serve(message: IncomingMessage, response: ServerResponse): Promise<void> {
    const request = await readSigned(message, verifier);
    if (request) requests.push(request);
    const answer = request ? behavior(request) : { status: 401 };
    if (answer === 'cut') message.socket.destroy();
    else if (answer === 'endless') await sendWithoutEnd(response);
    else if (answer !== 'never') send(response, answer);
  }
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (typeof address !== 'object' || !address) throw new Error('the server has no port');
  return {
    url: `http://127.0.0.1:${address.port}`,
    requests,
    behave: (other) => {
      requests.length = 0;
      behavior = other;
    },
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

const unset: Behavior = () => ({ status: 500 });

async function readSigned(
  message: IncomingMessage,
  verifier: SignatureVerifier,
): Promise<SignedRequest | undefined> {
  const chunks: Buffer[] = await message.toArray();
  const body = Buffer.concat(chunks).toString();
  const token = message.headers.authorization?.replace(/^Bearer /, '') ?? '';
  const claims = await verifier.verify(token, ForwardSchema, body).catch(() => undefined);
  const requestId = message.headers['x-request-id'];
  return (
    claims && {
      method: message.method ?? '',
      url: message.url ?? '',
      requestId: typeof requestId === 'string' ? requestId : undefined,
      contentType: message.headers['content-type'],
      body,
      claims,
    }
  );
}

/** Ends when the other side has had enough. */
async function sendWithoutEnd(response: ServerResponse): Promise<void> {
  response.writeHead(201, { 'content-type': 'application/sdp' });
  await pipeline(sdpWithoutEnd, response).catch(() => undefined);
}

function* sdpWithoutEnd(): Generator<string> {
  yield 'v=0\r\n';
  for (;;) yield 'a=x\r\n'.repeat(4096);
}

function send(response: ServerResponse, { status, headers = {}, body = '' }: OriginAnswer): void {
  response.writeHead(status, headers).end(body);
}
