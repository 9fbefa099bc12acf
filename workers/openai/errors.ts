/** Problems in the shape in which clients of OpenAI's API read errors. */
import type { MiddlewareHandler } from 'hono';
import { PROBLEM_CONTENT_TYPE, type Problem } from '../../protocol/problem.ts';
import type { EdgeEnv } from '../edge.ts';
import { mediaType } from '../media-type.ts';

/** The body of an error: https://platform.openai.com/docs/guides/error-codes */
export interface OpenAiError {
  readonly error: {
    readonly message: string;
    readonly type: 'invalid_request_error' | 'rate_limit_error' | 'server_error';
    /** The problem's name, with underscores. */
    readonly code: string;
    readonly param: null;
  };
}

/** Status and headers stay as they are. Stands before whatever makes problems. */
export const openAiErrors: MiddlewareHandler<EdgeEnv> = async (context, next) => {
  await next();
  const { status, headers } = context.res;
  if (mediaType(context.res) !== PROBLEM_CONTENT_TYPE) return;
  const body = openAiError(await context.res.json<Problem>());
  const kept = new Headers(headers);
  kept.set('content-type', 'application/json');
  kept.delete('content-length');
  context.res = new Response(JSON.stringify(body), { status, headers: kept });
};

export function openAiError({ type, title, status, detail }: Problem): OpenAiError {
  const code = type.slice(type.lastIndexOf(':') + 1).replaceAll('-', '_');
  return { error: { message: `${title}. ${detail}`, type: typeOf(status), code, param: null } };
}

function typeOf(status: number): OpenAiError['error']['type'] {
  if (status >= 500) return 'server_error';
  return status === 429 ? 'rate_limit_error' : 'invalid_request_error';
}
