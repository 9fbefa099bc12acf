/** `/v1/realtime/client_secrets`: what a tenant's server asks for, for each of its clients. */
import { bodyLimit } from 'hono/body-limit';
import * as v from 'valibot';
import { problemResponse } from '../../protocol/problem.ts';
import { tenantOf, type EdgeContext } from '../edge.ts';
import { decodeText } from '../forward.ts';
import { clientSecrets } from '../keys.ts';
import { mediaType } from '../media-type.ts';
import { MAX_SESSION_BYTES } from '../../protocol/session-config.ts';
import { ClientSecretRequestSchema } from './client-secret-request.ts';

export const limitSecretRequest = bodyLimit({
  maxSize: MAX_SESSION_BYTES,
  onError: () => malformed(`A request has at most ${MAX_SESSION_BYTES} bytes.`),
});

/** `POST /v1/realtime/client_secrets`: 200 and `{ value, expires_at, session }`, the second in seconds since 1970. */
export async function createClientSecret(context: EdgeContext): Promise<Response> {
  const request = await readRequest(context.req.raw);
  if (request instanceof Response) return request;
  const { expires_after, session } = request;
  try {
    const secrets = clientSecrets(context.env);
    const { value, expiresAt } = await secrets.mint(
      tenantOf(context),
      expires_after.seconds,
      session,
    );
    const body = { value, expires_at: expiresAt, session: session ?? { type: 'realtime' } };
    return Response.json(body, { headers: { 'cache-control': 'no-store' } });
  } catch (error) {
    if (error instanceof RangeError) return malformed(error.message);
    throw error;
  }
}

/** A request without a body asks for what is usual. */
async function readRequest(
  request: Request,
): Promise<v.InferOutput<typeof ClientSecretRequestSchema> | Response> {
  const bytes = await request.arrayBuffer();
  if (bytes.byteLength > 0 && mediaType(request) !== 'application/json') {
    return problemResponse('unsupported-media-type', 'Send JSON as application/json.');
  }
  let body: unknown;
  try {
    body = bytes.byteLength === 0 ? {} : JSON.parse(decodeText(bytes) ?? '');
  } catch {
    return malformed('The body is no JSON.');
  }
  const result = v.safeParse(ClientSecretRequestSchema, body);
  if (result.success) return result.output;
  const [issue] = result.issues;
  return malformed(`${v.getDotPath(issue) ?? 'The body'}: ${issue.message}`);
}

function malformed(detail: string): Response {
  return problemResponse('malformed-request', detail);
}
