/**
 * A request for a session of another transceiver of the cluster is passed on to it, for what stands
 * before them knows only the cluster. It keeps its token, which the owner checks and uses up.
 */
import type { Context, MiddlewareHandler } from 'hono';
import type { Logger } from 'pino';
import type { TrunkAddress } from '../../protocol/footprint.ts';
import { problemResponse } from '../../protocol/problem.ts';

/** Marks a request that was passed on once and goes no further. */
export const HOP_HEADER = 'global-relay-hop';

/** Milliseconds the owner has for its answer; the edge waits longer. */
const OWNER_DEADLINE = 1_500;

/** What of a request the owner needs, and what of an answer the edge. */
const REQUEST_HEADERS = ['authorization', 'content-type', 'accept', 'if-match'];
const RESPONSE_HEADERS = ['content-type', 'etag', 'accept-patch', 'retry-after', 'server-timing'];

/** `nowhere`: the cluster has no such transceiver; `unknown`: that cannot be found out now. */
export type OwnerPlace = TrunkAddress | 'nowhere' | 'unknown';

export interface Owners {
  /** Where a transceiver takes signaling. Never rejects. */
  find(transceiver: number): Promise<OwnerPlace>;
}

export interface OwnerForwardingOptions {
  /** True for a transceiver that is served here. */
  readonly isHere: (transceiver: number) => boolean;
  /** The transceiver that a request is for; its token is checked by then, but not used up. */
  readonly ownerOf: (c: Context) => number;
  readonly owners: Owners;
  readonly log: Logger;
}

/** Answers 502 and 504 itself; a transceiver that is nowhere is left to the next handler. */
export function forwardToOwner(options: OwnerForwardingOptions): MiddlewareHandler {
  const { isHere, ownerOf, owners, log } = options;
  return async (c, next) => {
    const transceiver = ownerOf(c);
    if (isHere(transceiver) || c.req.header(HOP_HEADER) !== undefined) return next();
    const place = await owners.find(transceiver);
    if (place === 'nowhere') return next();
    if (place === 'unknown') {
      const detail = `Redis does not say now where transceiver ${transceiver} is; try again.`;
      return problemResponse('bad-gateway', detail);
    }
    try {
      return await passOn(c, place);
    } catch (error) {
      log.warn({ err: error, transceiver, place }, 'a request could not be passed on to its owner');
      const timedOut = error instanceof DOMException && error.name === 'TimeoutError';
      return timedOut
        ? problemResponse('gateway-timeout', `Transceiver ${transceiver} did not answer in time.`)
        : problemResponse('bad-gateway', `Transceiver ${transceiver} cannot be reached.`);
    }
  };
}

async function passOn(c: Context, { address, port }: TrunkAddress): Promise<Response> {
  const host = address.includes(':') ? `[${address}]` : address;
  const { pathname } = new URL(c.req.url);
  const headers = picked(c.req.raw.headers, REQUEST_HEADERS);
  headers.set(HOP_HEADER, '1');
  const body = await c.req.arrayBuffer();
  const answer = await fetch(`http://${host}:${port}${pathname}`, {
    method: c.req.method,
    headers,
    body: body.byteLength > 0 ? body : null,
    redirect: 'error',
    signal: AbortSignal.timeout(OWNER_DEADLINE),
  });
  const { status } = answer;
  const text = status === 204 ? null : await answer.arrayBuffer();
  return new Response(text, { status, headers: picked(answer.headers, RESPONSE_HEADERS) });
}

function picked(from: Headers, names: readonly string[]): Headers {
  const to = new Headers();
  for (const name of names) {
    const value = from.get(name);
    if (value !== null) to.set(name, value);
  }
  return to;
}
