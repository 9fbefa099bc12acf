/** An HTTP server of an origin process. */
import { createServer, type Server } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import type { Hono } from 'hono';
import type { TrunkAddress } from '../protocol/footprint.ts';
import { bindError, codeOf } from './bind-error.ts';

/** Milliseconds that requests under way may take once the server is to close. */
const CLOSE_PATIENCE = 1_000;

/** Milliseconds between two looks for connections whose last request is answered. */
const CLOSE_POLL = 10;

export interface HttpServer {
  /** As bound, with its real port. */
  readonly address: TrunkAddress;
  /** Takes no more requests, and answers those that are under way. */
  close(): Promise<void>;
}

/**
 * @param what For messages, as "signaling".
 * @throws Error that says what to do when the port cannot be had.
 */
export async function serveHttp(
  fetch: Hono['fetch'],
  { address, port }: TrunkAddress,
  what: string,
): Promise<HttpServer> {
  const server = createServer(getRequestListener(fetch));
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', (error: NodeJS.ErrnoException) => {
    const taken = error.code === 'EADDRINUSE';
    const advice = `give another ${what} port, or end the process that holds this one`;
    reject(
      taken
        ? new Error(`TCP ${address}:${port} is taken; ${advice}.`)
        : bindError(codeOf(error), address, port, error, 'TCP'),
    );
  });
  server.listen(port, address, resolve);
  await promise;
  return { address: { address, port: portOf(server) }, close: () => closeServer(server) };
}

function portOf(server: Server): number {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The server has no port.');
  return address.port;
}

async function closeServer(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  const poll = setInterval(() => server.closeIdleConnections(), CLOSE_POLL);
  const cut = setTimeout(() => server.closeAllConnections(), CLOSE_PATIENCE);
  await closed;
  clearInterval(poll);
  clearTimeout(cut);
}
